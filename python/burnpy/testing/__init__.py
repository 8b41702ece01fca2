"""For tests, yours too: strategies for Hypothesis in ``burnpy.testing.strategies``."""
