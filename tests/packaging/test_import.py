# SPDX-License-Identifier: MIT
"""`import svmf` is light: without torch until something is used, then little more time than
`import torch`, and no package that only models, plots or tests need."""

import json

from helpers.commands import python

HEAVY = ("scipy", "matplotlib", "sklearn", "tqdm", "mpmath", "pandas")

TIMES = """
import json, sys, time
import torch
start = time.perf_counter()
cpu = time.process_time()
import svmf
svmf.functional
print(json.dumps([time.perf_counter() - start, time.process_time() - cpu]))
"""
MODULES = """
import json, sys
import svmf
svmf.functional.vmf_kl_uniform
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def run(program: str):
    finished = python("-c", program)
    return json.loads(finished.stdout)


def test_adds_less_than_a_fifth_of_a_second_to_torch() -> None:
    """CPU time, so that a busy machine does not matter; the best of a few runs."""
    assert min(run(TIMES)[1] for _ in range(5)) < 0.2


def test_imports_nothing_heavy() -> None:
    # torch may import some of these itself where they are installed
    before = set(
        run(MODULES.replace("import svmf\nsvmf.functional.vmf_kl_uniform", "import torch"))
    )
    added = set(run(MODULES)) - before
    assert added & set(HEAVY) == set()


def test_the_rest_is_imported_on_first_use() -> None:
    names = run("import json, svmf; print(json.dumps(dir(svmf)))")
    assert {"functional", "distributions", "models", "reference", "build_info"} <= set(names)
    assert run(
        "import json, sys, svmf\n"
        "before = 'svmf.distributions' in sys.modules\n"
        "svmf.distributions.VonMisesFisher\n"
        "print(json.dumps([before, 'svmf.distributions' in sys.modules]))"
    ) == [False, True]


def test_torch_waits_for_the_first_use() -> None:
    found = run(
        "import json, sys, svmf, svmf._gradients\n"
        "names = svmf.__version__, dir(svmf), svmf._gradients.GRADIENTS\n"
        "before = 'torch' in sys.modules\n"
        "svmf.VonMisesFisher\n"
        "print(json.dumps([before, 'torch' in sys.modules]))"
    )
    assert found == [False, True]


def test_every_name_that_dir_lists_exists() -> None:
    import svmf

    for name in svmf.__all__:
        assert getattr(svmf, name) is not None
    assert svmf.VonMisesFisher is svmf.distributions.VonMisesFisher
