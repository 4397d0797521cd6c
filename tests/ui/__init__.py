"""Tests of ftui.ui."""
