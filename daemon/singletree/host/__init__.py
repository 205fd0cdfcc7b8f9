"""Live sessions by workspace; doors come here."""
