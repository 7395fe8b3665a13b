# SPDX-License-Identifier: MIT
"""The paper's experiments (Davidson et al. 2018, section 5 and appendices), one module each."""
