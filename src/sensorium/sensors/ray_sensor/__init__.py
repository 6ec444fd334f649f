"""The base of user-defined ray sensors."""
