# SPDX-License-Identifier: MIT
"""Every example runs as it stands, without data sets, and says what its text promises."""

import importlib.util
import re
from pathlib import Path

import pytest
from helpers.commands import python
from helpers.paths import PROJECT

EXAMPLES = PROJECT / "examples"
# what the last figure of that line must at least be
EXPECTED = {
    "svae_by_hand": (r"nearest neighbour in the codes: ([\d.]+)%", 75),
    "product_latent": (r"ELBO of test images (-[\d.]+)", -26),
    "conv_svae_lightning": (r"before, (-[\d.]+) after", -27),
    "from_hyperspherical_vae": (r"m = 100: E\[mu.z\] = ([\d.]+)", 0.1),
    "cluster_embeddings": (r"NMI of mixture with the true classes: ([\d.]+)", 0.65),
    "direction_regression": (r"    0 +200 +(\d+)", 150),
    "graph_links": (r"AUC of the held-out links: ([\d.]+)", 0.7),
    "star_clusters": (r"mean log density (-[\d.]+)", -2.4),
}
NEEDED = {"conv_svae_lightning": ("lightning",)}


def test_every_example_is_listed():
    files = {path.stem for path in EXAMPLES.glob("*.py")}
    assert files == set(EXPECTED)
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"[{name}.py]({name}.py)" in page for name in files)


@pytest.mark.parametrize("name", EXPECTED)
def test_runs_as_it_stands(name, tmp_path):
    for needed in NEEDED.get(name, ()):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"needs {needed}, which is not installed")
    finished = python(EXAMPLES / f"{name}.py", cwd=tmp_path, timeout=500)
    pattern, least = EXPECTED[name]
    found = re.search(pattern, finished.stdout)
    assert found, finished.stdout
    assert float(found[1]) >= least
    assert list(Path(tmp_path).iterdir()) == []
