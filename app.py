"""The page: `python app.py`. Also the entry of a Hugging Face Space.

Listens on 127.0.0.1. On any other address it wants a login, FTUI_AUTH=user:password (several by comma), or to be
told that none is wanted: --allow-anonymous.
"""

from __future__ import annotations

import argparse
import os
import sys

# Before gradio is imported: it would otherwise ask other hosts for its version and send figures.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")


def main() -> int:
    """Serve the page until it is interrupted; returns the exit code."""
    from ftui.errors import FtuiError
    from ftui.ui import serve

    in_space = bool(os.environ.get("SPACE_ID"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--host", default="0.0.0.0" if in_space else "127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=7860, help="port to listen on")
    parser.add_argument(
        "--allow-anonymous", action="store_true", default=in_space, help="no login, whatever the address"
    )
    parser.add_argument(
        "--root-path", default="", help="path under which a proxy serves the page, such as /ftui"
    )
    given = parser.parse_args()
    try:
        serve.run(given.host, given.port, given.allow_anonymous, given.root_path)
    except FtuiError as error:
        print(f"{error.title}\n  {error.message}\n  → {error.fix}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
