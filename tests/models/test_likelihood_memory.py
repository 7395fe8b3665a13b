# SPDX-License-Identifier: MIT
"""The likelihood's memory does not grow with the number of rows, also with huge pages, where small
results between the freed activations once kept ten gigabytes of them."""

import sys

import pytest
from helpers.commands import python

PROGRAM = """
import resource, torch
from svmf.models import VAE, Bernoulli, GaussianLatent, log_likelihood, released_log_likelihood
torch.set_num_threads(1)
model = VAE(784, latent=GaussianLatent(20), likelihood=Bernoulli())
x = (torch.rand(1200, 784) < 0.3).float()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
log_likelihood(model, x[:8]), released_log_likelihood(model, x[:8])
before = peak()
log_likelihood(model, x), released_log_likelihood(model, x)
print((peak() - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the tunable is glibc's")
def test_peak_does_not_grow_with_the_rows():
    finished = python("-c", PROGRAM, environment={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})
    assert int(finished.stdout) < 80, f"{finished.stdout.strip()} MB for 1200 rows"
