"""How the process is started, serves one editor or many, and ends."""
