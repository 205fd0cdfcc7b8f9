"""The pipes: bytes to messages and back, in order and bounded. Nothing here knows a method."""
