"""How one session asks its extensions and tells them what happens."""
