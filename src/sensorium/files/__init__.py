"""Untrusted or incomplete files: bounded reading, atomic writing, locks on folders."""
