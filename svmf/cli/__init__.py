# SPDX-License-Identifier: MIT
"""The command line `svmf`. Each module of this package is one subcommand with

    HELP, EXAMPLES                  texts
    add_arguments(parser)           its options
    run(args) -> int                its work, which imports what it needs when it is called

so that a new subcommand is a new file, and `svmf --help` imports no torch of its own.
"""

import argparse
import contextlib
import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from svmf._version import __version__
from svmf.errors import ConfigError, UserError


class Parser(argparse.ArgumentParser):
    """A mistake gives one line and exit code 2. Texts keep their lines, options their names."""

    def __init__(self, **options: Any) -> None:
        texts = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=texts, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def require_at_least(option: str, value: float | None, least: int) -> None:
    """Refuses a smaller value of an option, and nan; one that was not given is None."""
    if value is not None and not value >= least:
        raise ConfigError(f"--{option}: expected at least {least}, got {value}")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="svmf", description="Von Mises-Fisher distributions and hyperspherical VAEs."
    )
    parser.add_argument("--version", action="version", version=f"svmf {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        command = commands.add_parser(
            info.name,
            help=module.HELP,
            description=module.HELP[0].upper() + module.HELP[1:] + ".",
            epilog="examples:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES),
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return guarded("svmf", lambda: _command(argv))


def _command(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 2
    return guarded(f"svmf {args.command}", lambda: args.run(args))


def guarded(name: str, work: Callable[[], int]) -> int:
    """The exit code of the work. A mistake of the user's, Ctrl-C and a closed pipe cost one line,
    not a traceback."""
    _leave_imports_on_interrupt(name)
    try:
        return int(work())
    except UserError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:
        packages = _packages_of_models()
        missing = (error.name or "").partition(".")[0]
        if missing.replace("sklearn", "scikit-learn") not in packages:
            raise
        print(
            f"{name}: error: needs the package {missing}, which is not installed; "
            f"run: pip install {' '.join(packages)}",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of a pipe went away; keep Python from complaining about it at exit
        sys.stderr.close()
        return 141


def _leave_imports_on_interrupt(name: str) -> None:
    """Ctrl-C while a package is imported ends the process there and then. As an exception it would
    meet code that makes other errors of it, or aborts."""

    def leave(_number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                os.write(2, f"\n{name}: interrupted\n".encode())
                os._exit(130)
            frame = frame.f_back
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, leave)


def _packages_of_models() -> list[str]:
    """What the extra `models` asks for, as pyproject.toml has it."""
    from importlib import metadata

    try:
        lines = metadata.requires("svmf") or []
    except metadata.PackageNotFoundError:  # used from a folder without being installed
        return ["numpy", "scipy", "scikit-learn", "matplotlib"]
    return [line.partition(";")[0].strip() for line in lines if 'extra == "models"' in line]
