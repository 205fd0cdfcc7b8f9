"""The hall: one AgentSession per workspace; everything is put together here."""
