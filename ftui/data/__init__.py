"""Reads any file, folder or fetched hub set into canonical rows, with a complete report of what was found.

    path → reader (bytes, encoding, format) → records → detect (schema, columns) → canonical rows → report

`load` and `inspect` are one path; `inspect` only keeps fewer rows. Nothing here imports torch or
transformers; pandas is not needed, and pyarrow and openpyxl are imported when a file asks for them.
"""

from ftui.data.chosen import Chosen, choose
from ftui.data.convert import convert
from ftui.data.hub_names import hub_folder
from ftui.data.load import DataSet, Loaded, head, inspect, load, records
from ftui.data.options import Options
from ftui.data.report import Report
from ftui.data.row import Row

__all__ = [
    "Chosen",
    "DataSet",
    "Loaded",
    "Options",
    "Report",
    "Row",
    "choose",
    "convert",
    "head",
    "hub_folder",
    "inspect",
    "load",
    "records",
]
