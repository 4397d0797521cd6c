"""Tests of whole journeys in a real browser."""
