"""Laws that the library claims, one family a file."""
