"""The sentences for a file or folder that cannot be used as a whole, one function each."""

from __future__ import annotations

import json
from pathlib import Path

from ftui.errors import DataError

MAX_BYTES = 20 * 1024**3


def not_found(source: str, hub: bool) -> DataError:
    """hub: the name could be one of the Hugging Face hub."""
    if hub:
        return DataError(
            "not_found",
            "This data is not here",
            f"{source} is no file or folder, and has not been fetched from the Hugging Face hub yet.",
            f"Fetch it: python -m ftui.data.hub {source} — or give the path of a file.",
        )
    return DataError(
        "not_found",
        "No such file or folder",
        f"There is nothing at {source or 'the empty path'}.",
        "Check the path, or upload the file on the Data tab.",
    )


def empty_file(path: Path) -> DataError:
    return DataError(
        "empty_file", "The file is empty", f"{path.name} holds no text.", "Export or download it again."
    )


def empty_folder(path: Path, seen: list[str]) -> DataError:
    there = f"only {', '.join(seen[:5])}" if seen else "nothing"
    return DataError(
        "not_found",
        "No data in this folder",
        f"{path} holds {there}; no file in it ends like data.",
        "Put .jsonl, .json, .csv, .tsv, .parquet, .xlsx or .txt files there.",
    )


def not_text(path: Path, what: str, fix: str) -> DataError:
    """what: a predicate, for example "is a PNG picture"."""
    return DataError("not_text", "This file cannot be read as data", f"{path.name} {what}.", fix)


def unreadable(path: Path, error: OSError) -> DataError:
    return DataError(
        "not_found",
        "The file cannot be opened",
        f"{path}: {error.strerror or error}.",
        "Check that the file still exists and that you may read it.",
    )


def damaged(path: Path, kind: str, detail: str) -> DataError:
    told = detail.strip().splitlines()[0][:200] if detail.strip() else "it breaks off"
    return not_text(path, f"is a damaged {kind}: {told}", "Download or export the file again.")


def too_large(path: Path, size: int) -> DataError:
    return DataError(
        "too_large",
        "The file is too large",
        f"{path.name} has {size / 1024**3:.1f} GB; at most {MAX_BYTES / 1024**3:.0f} GB are read.",
        "Split it into several files in one folder.",
    )


def too_large_whole(path: Path, limit: int) -> DataError:
    """limit: characters."""
    return DataError(
        "too_large",
        "The file is too large in this form",
        f"{path.name} keeps its rows by columns, so it must be read whole, and that is done up to "
        f"{limit / 1024**2:.0f} million characters.",
        "Write it as JSON lines, one object a row: pandas' to_json(…, orient='records', lines=True), or as Parquet.",
    )


def damaged_whole(path: Path, told: str) -> DataError:
    return not_text(
        path,
        f"keeps its rows by columns in one JSON value, which is damaged: {told.rstrip('.')}",
        "Export it again, best as JSON lines.",
    )


def no_such_part(path: Path, part: str) -> DataError:
    return DataError(
        "not_found",
        "No such part of the file",
        f"{path.name} holds no rows under the name {part!r}.",
        "Choose a part that it has, or give each part a file of its own.",
    )


def unknown_schema(
    path: Path, columns: list[str], needed: str = "", proposal: dict[str, str] | None = None
) -> DataError:
    """columns: as they stand in the data. needed: what a chosen schema lacks, as a clause.

    proposal: the mapping that their content suggests; a person decides.
    """
    named = ", ".join(columns[:30]) or "none"
    needed = needed or "no question with an answer, no talk and no text is among them under a known name"
    first = columns[0] if columns else "text"
    pair = {"prompt": first, "response": columns[1]} if len(columns) > 1 else {}
    ways = dict.fromkeys(
        json.dumps(way, ensure_ascii=False) for way in (proposal or pair, {"text": first}) if way
    )
    error = DataError(
        "unknown_schema",
        "The columns are not known",
        f"{path.name} has the columns {named}; {needed}.",
        f"Say what they hold, {'by the look of them' if proposal else 'for example'} {', or '.join(ways)}.",
    )
    error.columns = columns
    error.proposal = proposal or {}
    return error


def bad_schema(schema: str, known: tuple[str, ...]) -> DataError:
    return DataError(
        "unknown_schema",
        "No such shape of rows",
        f"{schema!r} is no shape of rows.",
        f"Use one of {', '.join(known)}, or leave it empty to have it detected.",
    )


def bad_mapping(name: str, column: str, known: tuple[str, ...]) -> DataError:
    return DataError(
        "unknown_schema",
        "The mapping names an unknown field",
        f"{name!r}, mapped to the column {column!r}, is no field of a row.",
        f"Use the fields {', '.join(known)}.",
    )


def no_usable_rows(path: Path, rows: int, counts: dict[str, int], first: str) -> DataError:
    """counts: reason → rows; first: the first dropped row, in words."""
    if not rows:
        return DataError(
            "no_usable_rows",
            "The file holds no rows",
            f"{path.name} can be read, but there is no row in it.",
            "Check that the export was complete.",
        )
    told = ", ".join(f"{count:,} × {reason}" for reason, count in counts.items())
    return DataError(
        "no_usable_rows",
        "No row can be used",
        f"All {rows:,} rows of {path.name} are dropped: {told}. The first: {first}",
        "Mend the file, or say which column holds what.",
    )
