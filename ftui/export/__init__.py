"""Exports: a run's result as a model folder or a registered model, proved before it is called done."""
