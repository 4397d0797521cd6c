"""Models: which are here, how they get here, what they are made of and what they need."""
