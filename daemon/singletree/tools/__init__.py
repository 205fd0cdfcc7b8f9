"""The tools: read, write, edit, bash, grep, find, ls, on a World that is handed in."""
