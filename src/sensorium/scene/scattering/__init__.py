"""Objects scattered at random over worlds."""
