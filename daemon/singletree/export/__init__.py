"""A session as something to keep or to show: JSON lines, Markdown, one HTML page."""
