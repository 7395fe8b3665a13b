# SPDX-License-Identifier: MIT
"""The names and signatures of the `hyperspherical_vae` package (s-vae-pytorch), on svmf's ops.

    from hyperspherical_vae.distributions import VonMisesFisher, HypersphericalUniform

becomes

    from svmf.compat.hyperspherical_vae.distributions import VonMisesFisher, HypersphericalUniform

What differs is what was wrong: samples are exact for every concentration, gradients in the
concentration are unbiased, `batch_shape` and `event_shape` follow `torch.distributions`, and `loc`
is checked to be of unit length.
"""
