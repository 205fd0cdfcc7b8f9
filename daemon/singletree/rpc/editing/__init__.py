"""Files as people at editors see them: unsaved buffers read, edits made with undo and proven."""
