"""Tests of ftui.templates."""
