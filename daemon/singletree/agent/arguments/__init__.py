"""The arguments of a call: the schema as a model sees it, the check, the repair, the mistakes."""
