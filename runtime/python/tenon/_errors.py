"""One exception per kind of the C interface; `code` is the exit code that the command `tenon` has for it."""
from __future__ import annotations


class TenonError(Exception):
    """What Tenon refuses, in one sentence."""

    code: int = 70


class SpecError(TenonError):
    """A mistake in a specification."""

    code = 1


class UsageError(TenonError, ValueError):
    """A call that cannot be meant: an unknown name, a wrong shape or option."""

    code = 2


class UnknownName(UsageError, KeyError):
    """A name that a mapping, such as `parameters`, does not have."""

    __str__ = Exception.__str__  # KeyError's puts the sentence in quotes


class InputError(TenonError, ValueError):
    """Files or values that do not fit: an index out of range, weights of another model, another CPU's artifact."""

    code = 3


class NumericError(TenonError, ArithmeticError):
    """NaN, infinity, divergence."""

    code = 4


class ResourceError(TenonError, MemoryError):
    """Not enough memory or disk."""

    code = 5


class BugError(TenonError, RuntimeError):
    """A mistake in Tenon itself."""

    code = 70


class Interrupted(TenonError):
    """Stopped on request, with what was done saved."""

    code = 75


_KINDS = {kind.code: kind for kind in (SpecError, UsageError, InputError, NumericError, ResourceError, BugError, Interrupted)}


def error_of(code: int, message: str) -> TenonError:
    """The exception of a code. One that is not known is a bug, and keeps its number."""
    error = _KINDS.get(code, BugError)(message)
    error.code = code
    return error
