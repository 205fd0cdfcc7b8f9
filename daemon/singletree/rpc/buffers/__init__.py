"""The text of open buffers: lines, edits, encodings. Nothing here knows a client."""
