"""What the agent changed in files: kept, shown as a patch, taken back."""
