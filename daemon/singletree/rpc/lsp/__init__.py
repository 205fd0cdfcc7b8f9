"""The standard half of LSP: pygls on our transport, text sync, settings, watched files."""
