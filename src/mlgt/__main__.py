"""`python -m mlgt` is `mlgt`."""

import sys

from .cli import main

sys.exit(main())
