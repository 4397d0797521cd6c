"""Tests of ftui.checks."""
