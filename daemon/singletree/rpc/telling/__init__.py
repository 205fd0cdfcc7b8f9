"""What happens in a session, as clients hear it: shapes, events, deltas."""
