# SPDX-License-Identifier: MIT
"""`svmf info`: what this installation is, for bug reports."""

import argparse
import json

HELP = "print versions, instruction set, compiler, CUDA architectures, driver and GPUs"
EXAMPLES = ("svmf info", "svmf info --json")
_NAMES = {
    "svmf": "svmf",
    "torch": "torch",
    "torch_headers": "torch headers of the build",
    "compiler": "compiler",
    "flags": "flags",
    "cpu_isas": "instruction sets built",
    "cpu_isa": "instruction set in use",
    "cuda": "CUDA compiler",
    "cuda_archs": "CUDA architectures",
    "sanitizers": "sanitizers",
    "driver": "NVIDIA driver",
    "gpus": "GPUs, with compute capability",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    import svmf
    from svmf import _gpus

    info = svmf.build_info()
    info |= {"driver": _gpus.driver(), "gpus": "; ".join(_gpus.names())}
    if args.json:
        print(json.dumps(info))
        return 0
    for key, value in info.items():
        print(f"{_NAMES.get(key, key):28s} {value.strip() or 'none'}")
    return 0
