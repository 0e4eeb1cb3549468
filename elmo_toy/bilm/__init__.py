"""A bidirectional language model of the original architecture, at any size, in numpy."""
