"""The corruption program: operations, their parameters and draws, the kernel that runs a chain."""
