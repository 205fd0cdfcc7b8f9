"""The loop, and what a tool is."""
