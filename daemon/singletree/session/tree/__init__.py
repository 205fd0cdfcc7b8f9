"""The tree of one session in use: adding, compacting, navigating, looking."""
