"""Evaluation: what base and tuned model make of rows that were not trained on."""
