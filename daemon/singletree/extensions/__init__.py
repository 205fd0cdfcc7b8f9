"""The guests' rules: what an extension is told and what it may answer."""
