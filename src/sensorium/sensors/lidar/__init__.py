"""Lidars."""
