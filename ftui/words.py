"""Numbers, sizes and times as people say them; shared by page and terminal."""

from __future__ import annotations

from datetime import datetime


def count(number: int, one: str, many: str = "") -> str:
    """`1 row`, `1,204 rows`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float | None) -> str:
    """`8 s`, `2 min`, `3 h 5 min`; empty where unknown."""
    if seconds is None or seconds != seconds or seconds < 0:
        return ""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        minutes = seconds / 60
        return f"{minutes:.0f} min" if minutes >= 9.5 else f"{int(minutes)} min {int(seconds % 60)} s"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def size(byte_count: float) -> str:
    """`512 B`, `93 MB`, `3.1 GB`; powers of a thousand, as disks are sold."""
    amount = float(byte_count)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def gigabytes(amount: float | None) -> str:
    """`0.8 GB`, `24 GB`."""
    if amount is None:
        return ""
    return f"{amount:.1f} GB" if amount < 10 else f"{amount:.0f} GB"


def when(timestamp: float | None, now: float | None = None) -> str:
    """`14:03` today, `29 Nov 14:03` earlier; empty where unknown."""
    if not timestamp:
        return ""
    moment = datetime.fromtimestamp(timestamp)
    today = datetime.fromtimestamp(now) if now else datetime.now()
    return f"{moment:%H:%M}" if moment.date() == today.date() else f"{moment.day} {moment:%b %H:%M}"


def figure(value: float | None, digits: int = 3) -> str:
    """A measured number with so many significant digits: `1.31`, `0.00012`, `12,800`; a dash where there is none."""
    if value is None:
        return "–"
    if value != value:
        return "NaN"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 0.001:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{digits}g}"


def progress(done: dict[str, object] | None) -> str:
    """`step 120 of 300 · 2 min left` from the progress of a status; empty where there is none."""
    if not done:
        return ""
    number, total, unit = float(str(done.get("done") or 0)), done.get("total"), str(done.get("unit") or "")
    eta = done.get("eta_s")
    if unit == "bytes":
        text = size(number) + (f" of {size(float(str(total)))}" if total else "")
    elif unit == "steps":
        text = f"step {number:,.0f}" + (f" of {float(str(total)):,.0f}" if total else "")
    else:
        text = f"{number:,.0f}" + (f" of {float(str(total)):,.0f}" if total else "") + f" {unit}"
    left = duration(float(str(eta))) if eta is not None and total and number < float(str(total)) else ""
    return f"{text} · {left} left" if left else text
