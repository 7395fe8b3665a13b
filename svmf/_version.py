# SPDX-License-Identifier: MIT
"""The version, as the installed metadata has it; pyproject.toml is the only place where it is
written.
"""

from importlib.metadata import version

__version__ = version("svmf")
