# SPDX-License-Identifier: MIT
"""Stand-ins for other packages, so that an old script changes its import lines and nothing else."""
