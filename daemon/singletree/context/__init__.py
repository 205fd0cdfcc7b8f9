"""What the model sees: context files, skills, the system prompt, the projection, the X-ray."""
