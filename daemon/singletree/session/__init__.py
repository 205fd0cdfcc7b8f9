"""Sessions: the tree joined to the agent.

Its folders: `commands/` what a text begins, `turn/` how it runs, `tree/` what is kept of it,
`permission/` what its tools may do, `edits/` what they did, `extensions/` who else is asked,
`settings/` what a person chose. Read next: session.py (what doors have), wiring.py.
"""
