"""An agent daemon that any editor hosts like a language server.

Importing the package does nothing.
"""

__version__ = "0.1.0"
