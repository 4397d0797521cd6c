"""Tests of ftui.chat."""
