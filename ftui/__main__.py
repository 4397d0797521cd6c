"""`python -m ftui …`: the command line."""

import sys

from ftui.cli import main

sys.exit(main())
