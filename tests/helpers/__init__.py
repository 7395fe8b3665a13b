# SPDX-License-Identifier: MIT
"""What tests share and is no test itself: exact values, goodness of fit, cases of every op."""
