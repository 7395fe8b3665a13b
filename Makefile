# SPDX-License-Identifier: MIT
# `make` alone lists the targets. Everything happens in .venv; nothing is installed outside the project's folder.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
BIN := $(VENV)/bin
# Another Python may not have the pinned versions: `make test UNPINNED=1 PYTHON=python3.13 TORCH=torch==2.15.0` takes the newest.
ifdef UNPINNED
REQUIREMENTS := --upgrade $(shell sed '/^\#/d; s/==.*//' requirements-dev.txt)
else
REQUIREMENTS := -r requirements-dev.txt
CONSTRAINTS := -c requirements-lock.txt
endif
# The CUDA ops are built where there is a GPU to run them; `make cuda` compiles them anywhere.
export SVMF_CUDA ?= $(if $(shell command -v nvidia-smi),AUTO,OFF)
# Kernel sources and build files: a change rebuilds, with Ninja compiling only what it touches.
SOURCES := $(shell find csrc cmake -type f) CMakeLists.txt setup.py pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help install quick test test-all test-statistics fuzz test-aarch64 test-aarch64-package demo bench lint format compilers tidy docs cuda test-cuda bench-cuda wheel clean

help:  ## list the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

$(VENV)/.requirements: requirements-dev.txt requirements-lock.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "svmf: installing torch and the other pinned packages into $(VENV) (minutes, once)"
	$(BIN)/python -m pip install $(CONSTRAINTS) $(TORCH)
	$(BIN)/python -m pip install $(CONSTRAINTS) $(REQUIREMENTS)
	touch $@

# The first line compiles and shows Ninja's progress, which pip would hide; the second finds everything compiled.
$(VENV)/.built: export CMAKE_ARGS := -DSVMF_TESTING=ON $(CMAKE_ARGS)
$(VENV)/.built: $(VENV)/.requirements $(SOURCES)
	@echo "svmf: compiling the extension (minutes the first time, later only what changed)"
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python setup.py -q build_ext --inplace
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install -q --no-build-isolation --no-deps -e .
	touch $@

install: $(VENV)/.built  ## make .venv, install the pinned packages, build the extension

# Every op against its reference, the accuracy of the mathematics, samples, distributions, models: no compiler, no
# other process, nothing that is measured.
QUICK := tests/ops/test_reference.py tests/ops/test_bad_input.py tests/ops/test_layouts.py tests/ops/test_half_types.py \
  tests/math/test_log_bessel.py tests/math/test_vmf_kappa.py tests/math/test_vmf_kl.py tests/math/test_philox.py \
  tests/sampler/test_distribution.py tests/sampler/test_exact_values.py tests/sampler/test_bad_rows.py \
  tests/distributions tests/models
NOT_QUICK := instruction_set or compile or first_call or scikit_learn_is_not_needed or estimate_is_unbiased \
  or test_coverage or learns_to_classify or integrates_to_one
quick: install  ## run the tests that say most in under a minute
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile $(QUICK) -k "not ($(NOT_QUICK))"

# Tests marked `alone` measure time or memory and have the machine to themselves; the others share it.
JOBS ?= 2
test: install  ## run the tests (about seven minutes on two cores; JOBS=8 on more)
	$(BIN)/python -m pytest -m "alone and not slow and not statistics"
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not alone and not slow and not statistics"

test-all: install  ## run the tests with the slow ones
	$(BIN)/python -m pytest -m "not statistics"

test-statistics: install  ## run the long goodness-of-fit suite
	$(BIN)/python -m pytest -m statistics --timeout 7200

# A build of its own with sanitizers. Leaks are not looked for: Python and torch keep memory on purpose.
FUZZ_CALLS ?= 100000
FUZZ_SEED ?= 1
FUZZ_MODULE := build/sanitized/_C.abi3.so
$(FUZZ_MODULE): $(VENV)/.requirements $(SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" cmake -S . -B build/sanitized -G Ninja -DSVMF_CUDA=OFF \
	  -DSVMF_SANITIZE=address,undefined,float-cast-overflow -DPython_EXECUTABLE=$(abspath $(BIN)/python)
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/sanitized
	touch $@

fuzz: install $(FUZZ_MODULE)  ## throw FUZZ_CALLS random calls at every op and distribution, with sanitizers
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 OMP_WAIT_POLICY=PASSIVE \
	  $(BIN)/python tests/fuzz --module $(FUZZ_MODULE) --calls $(FUZZ_CALLS) --seed $(FUZZ_SEED)

test-aarch64: install  ## run the row kernels for 64-bit ARM under qemu (needs a cross compiler and qemu-user)
	@PYTHONPATH=tests $(BIN)/python -m helpers.aarch64
	$(BIN)/python -m pytest tests/aarch64 -m slow

test-aarch64-package:  ## build the whole package for 64-bit ARM, run its tests under qemu (says what to install)
	$(BIN)/python tools/package_on_aarch64.py

demo: install  ## run the demonstration: results and a picture in demo_output/
	$(BIN)/svmf demo

bench: install  ## measure speed on this machine, side by side with the alternatives: under five minutes
	$(BIN)/python -m benchmarks --json bench_output/bench.json

lint: install  ## check formatting, style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'csrc/*.h' 'csrc/*.cpp' 'csrc/*.cu' 'csrc/*.cuh')
	$(BIN)/mypy
	$(BIN)/python tools/markdown_width.py

compilers:  ## compile the kernels with every compiler at hand, cross compilers too, without warnings
	$(BIN)/python tools/compilers.py

tidy:  ## run clang-tidy with the checks of .clang-tidy, where it is installed
	$(BIN)/python tools/tidy.py

$(VENV)/.docs: $(VENV)/.requirements requirements-docs.txt
	$(BIN)/python -m pip install -q $(CONSTRAINTS) -r requirements-docs.txt
	touch $@

docs: install $(VENV)/.docs  ## build the documentation with the API reference into build/site; warnings are errors
	$(BIN)/python -m mkdocs build --strict
	$(BIN)/python tools/update_tables.py --check

format: install  ## format all sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'csrc/*.h' 'csrc/*.cpp' 'csrc/*.cu' 'csrc/*.cuh')

# A100, RTX 4090 and H100. Without a GPU it is the compiler's report that is checked.
CUDA_ARCHS ?= 8.0;8.9;9.0
cuda: $(VENV)/.requirements  ## compile and link the CUDA code, fail on register spills (needs nvcc, no GPU)
	PATH="$(abspath $(BIN)):$$PATH" TORCH_CUDA_ARCH_LIST="$(CUDA_ARCHS)" cmake -S . -B build/cuda -G Ninja \
	  -DSVMF_CUDA=ON -DSVMF_WERROR=ON -DSVMF_PTXAS_REPORT=ON -DPython_EXECUTABLE=$(abspath $(BIN)/python)
	PATH="$(abspath $(BIN)):$$PATH" TORCH_CUDA_ARCH_LIST="$(CUDA_ARCHS)" cmake --build build/cuda \
	  --target svmf_cuda_only --parallel $$(nproc)
	$(BIN)/python tools/cuda_report.py build/cuda --check
	$(BIN)/python tools/cuda_rules.py build/cuda

define NEEDS_GPU
@$(BIN)/python -c 'import svmf, torch; ok = torch.cuda.is_available() and svmf.build_info()["cuda"]; \
  raise SystemExit(0 if ok else "make $@ needs a CUDA GPU, nvcc, and a torch built with CUDA of the same major version")'
endef

test-cuda: install  ## run the tests on the GPU (needs a CUDA GPU, nvcc and a CUDA build of torch)
	$(NEEDS_GPU)
	$(BIN)/python -m pytest tests/cuda -m needs_cuda

bench-cuda: install  ## measure speed on the GPU (needs what test-cuda needs)
	$(NEEDS_GPU)
	$(BIN)/python -m benchmarks --device cuda --json bench_output/bench_cuda.json

wheel: install  ## build a manylinux wheel in dist/ and try it in a fresh environment
	$(BIN)/python tools/build_wheel.py

clean:  ## remove what the build made (not .venv)
	rm -rf build dist *.egg-info svmf/*.so $(VENV)/.built
