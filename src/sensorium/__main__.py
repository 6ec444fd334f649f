"""`python -m sensorium` is the command line."""

from sensorium.cli import main

main()
