"""Reflection and transmission at surfaces and boundaries."""
