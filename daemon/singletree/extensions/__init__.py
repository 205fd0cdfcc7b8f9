"""What an extension is told and what it may answer."""
