"""Each number that the README states, measured by one command: `make bench`."""
