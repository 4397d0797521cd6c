"""Tests of ftui.jobs."""
