"""Tests of ftui.training."""
