"""The doors: the only place that knows JSON-RPC."""
