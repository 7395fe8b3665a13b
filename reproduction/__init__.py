# SPDX-License-Identifier: MIT
"""The paper's experiments (Davidson et al. 2018, section 5 and appendices), one module for each
table.

No part of the installed package: run from a checkout by `python -m reproduction NAME`.
"""
