"""The terminal client: standard library only, speaks only the protocol."""
