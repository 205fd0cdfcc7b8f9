"""The loop, its driver, and what a tool is."""
