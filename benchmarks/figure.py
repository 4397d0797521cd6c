"""One measured number, with its budget where it has one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A number and its unit. at_most and at_least: the budget; None where there is none."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the number lies within its budget."""
        above = self.at_most is not None and self.value > self.at_most
        below = self.at_least is not None and self.value < self.at_least
        return not (above or below)

    @property
    def budget(self) -> str:
        """The budget in words; empty where there is none."""
        bounds = [("at most", self.at_most), ("at least", self.at_least)]
        return ", ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)


def table(figures: list[Figure]) -> str:
    """The figures as a Markdown table, ready for the README."""
    rows = [("what", "measured", "budget", "")]
    for figure in figures:
        verdict = "" if not figure.budget else ("kept" if figure.kept else "MISSED")
        rows.append((figure.name, f"{figure.value:.4g} {figure.unit}".strip(), figure.budget, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    cells = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
