# SPDX-License-Identifier: MIT
"""`python -m svmf` is `svmf`."""

import sys

from svmf.cli import main

if __name__ == "__main__":
    sys.exit(main())
