"""What a host has that knows nothing but LSP: commands, code actions, progress, messages."""
