"""Fuzzing of everything that reads files: one reader an entry, shared by this command and by the tests in tests/fuzz.

    python -m fuzz --list
    python -m fuzz mesh-obj scenario --seconds 300

A reader is given bytes that are wrong in every way there is, and must keep what SECURITY.md promises. With atheris
installed the search is guided by the branches that inputs reach; without it a plain mutator does what it can.
"""
