"""What a tool call may do: the gate, the rules it remembers, the policy between them."""
