"""What a text of a person may begin: slash commands, and how they complete."""
