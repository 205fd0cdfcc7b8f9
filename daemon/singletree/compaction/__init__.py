"""How it forgets: budgets, cut points, summaries. Pure; the model is a function handed in."""
