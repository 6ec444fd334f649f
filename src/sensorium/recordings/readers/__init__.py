"""Readers of recordings: containers of packets, and what a device's packets or files hold."""
