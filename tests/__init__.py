"""Tests of ftui."""
