"""The session tree and its append-only file. Synchronous."""
