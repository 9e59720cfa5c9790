"""Random one-node models: generators by operator, and what runs and judges them (for random_ops_test.py)."""
