"""Settings in layers, and whether a workspace's own count."""
