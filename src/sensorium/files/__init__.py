"""Files that may be hostile or half-written: reading with bounds, writing at once, locks on folders."""
