"""What people at editors are asked and shown: permissions, dialogs, signs."""
