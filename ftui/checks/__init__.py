"""Preflight: what can be known before a run is said before it. One small function a rule."""

from ftui.checks.preflight import Context, Finding, blocking, preflight

__all__ = ["Context", "Finding", "blocking", "preflight"]
