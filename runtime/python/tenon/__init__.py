"""Compiled Transformer models of Tenon: open, run, train, generate. Arrays are numpy's, errors are exceptions with the codes of
the command `tenon`."""
from ._command import compile, find_command
from ._context import Context, Progress, Tensor
from ._errors import (BugError, InputError, Interrupted, NumericError, ResourceError, SpecError, TenonError, UnknownName,
                      UsageError)
from ._generate import Generator, Sampling
from ._model import Model, Parameters
from ._library import library_path
from ._search import Hypothesis, Search

__all__ = ["BugError", "Context", "Generator", "Hypothesis", "InputError", "Interrupted", "Model", "NumericError", "Parameters",
           "Progress", "ResourceError", "Sampling", "Search", "SpecError", "TenonError", "Tensor", "UnknownName",
           "UsageError", "compile", "find_command", "library_path"]
