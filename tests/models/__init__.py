"""Tests of ftui.models."""
