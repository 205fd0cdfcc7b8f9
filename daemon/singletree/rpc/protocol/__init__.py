"""Every method and event of the protocol, said once."""
