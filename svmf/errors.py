# SPDX-License-Identifier: MIT
"""Errors that a user can mend. The command line prints their text as one line and exits with
their code; a program that uses svmf as a library catches them by class."""


class UserError(Exception):
    """A mistake in what the user asked for, or a problem on the user's machine."""

    exit_code = 2


class DataError(UserError):
    """A data set is missing, truncated, corrupt or not what it claims to be."""


class ConfigError(UserError):
    """An option has a value that cannot work."""


class RunError(UserError):
    """A run folder or a checkpoint cannot be used or written."""


class NonFiniteError(UserError):
    """The loss became nan or infinite."""

    exit_code = 3


def one_line(text: str, length: int = 60) -> str:
    """A stranger's text for a message: on one line, without control characters, and not long."""
    text = text.encode("unicode_escape").decode()
    return text if len(text) <= length else text[: length - 3] + "..."
