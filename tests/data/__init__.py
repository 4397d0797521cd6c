"""Tests of ftui.data."""
