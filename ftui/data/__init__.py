"""Reads any file, folder or fetched hub set into canonical rows, with a complete report of what was found.

    path → reader (bytes, encoding, format) → records → detect (schema, columns) → canonical rows → report

`load` and `inspect` are one path; `inspect` only keeps fewer rows. Nothing here imports torch or
transformers; pandas is not needed, and pyarrow and openpyxl are imported when a file asks for them.
"""

from ftui.data.convert import convert
from ftui.data.hub_names import hub_folder
from ftui.data.load import Loaded, inspect, load
from ftui.data.options import Options
from ftui.data.report import Report
from ftui.data.row import Row
from ftui.data.split import hold_out

__all__ = ["Loaded", "Options", "Report", "Row", "convert", "hold_out", "hub_folder", "inspect", "load"]
