"""Rows of Parquet and Arrow files, read batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ftui.data import problems
from ftui.data.row import Record, RowFault

_BATCH = 256


def parquet(
    path: Path, stream: IO[bytes], told: Callable[[float], None] = lambda share: None
) -> Iterator[Record]:
    """stream: the unpacked file. told: hears what share of the rows is read, where the file says how many it has.

    Raises DataError, code not_text, where it is damaged or in another format.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    head = stream.read(6)
    stream.seek(0)
    whole = done = 0
    try:
        if head.startswith(b"ARROW1"):
            reader = pa.ipc.open_file(stream)
            whole = reader.num_record_batches
            batches = (reader.get_batch(index) for index in range(whole))
        elif head.startswith(b"PAR1"):
            file = pq.ParquetFile(stream)
            whole = -(-file.metadata.num_rows // _BATCH)
            batches = file.iter_batches(batch_size=_BATCH)
        else:
            batches = pa.ipc.open_stream(stream)
        if whole:
            told(0.0)
        for batch in batches:
            names = batch.schema.names
            columns = [_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True):
                yield _record(dict(zip(names, values, strict=True)))
            done += 1
            if whole:
                told(min(1.0, done / whole))
    # pyarrow answers damage with errors of many kinds, text that is not UTF-8 and sizes beyond memory among them
    except (pa.ArrowException, OSError, ValueError, TypeError, MemoryError, OverflowError) as error:
        raise problems.damaged(path, "Parquet or Arrow file", str(error)) from None


def _values(column: Any) -> list[Any]:
    """A column's values. Times finer than Python's microseconds lose what is finer."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.to_pylist()


def _record(row: dict[str, Any]) -> Record:
    try:
        return Record(0, {name: _without_nulls(value) for name, value in row.items()})
    except RecursionError:
        return Record(0, None, fault=RowFault("malformed_json", "It is nested too deeply."))


def _without_nulls(value: Any) -> Any:
    """A struct without its null fields: in Arrow all structs of a column have all fields, in JSON they need not."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
