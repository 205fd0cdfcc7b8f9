"""One file per topic; a handler is a few lines that call host or session."""
