"""`python -m sensorium` is the command line."""

from sensorium.app.cli import main

main()
