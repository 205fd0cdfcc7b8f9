"""The steward: joins the tree to the agent."""
