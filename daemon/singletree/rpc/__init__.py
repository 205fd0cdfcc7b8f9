"""The doors: the only place of the daemon that knows JSON-RPC."""
