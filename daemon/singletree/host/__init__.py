"""The hall: sessions by workspace; doors come here."""
