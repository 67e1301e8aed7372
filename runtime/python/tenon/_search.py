"""Several texts at once by beam search, each from what else the entry reads."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence

import numpy

from ._context import Tensor, address, fit
from ._errors import UsageError
from ._generate import Sampling
from ._handle import Handle
from ._library import BeamStruct, dtype_named, type_code, whole

if TYPE_CHECKING:
    from ._model import Model

_RULES, _FEEDS = ("t2t", "hf", "unilm"), ("token", "mask")


class Hypothesis(NamedTuple):
    """A text that a search has found: its symbols, behind the prompt and without the stop; whether that has ended it."""

    symbols: List[int]
    score: float
    ended: bool


class Search(Handle):
    """Made by Model.search. Uses the model's parameters as they are at each run."""

    _free = "tn_search_free"

    def __init__(self, model: "Model", block: Optional[str], entry: Optional[str], exempt: Sequence[int], threads: int,
                 **changes: Any):
        super().__init__()
        self.model, self.block, encoded = model, block, block.encode() if block else None
        beam = BeamStruct()
        self._lib.tn_model_beam(model.handle, encoded, ctypes.byref(beam))
        kinds = dict(BeamStruct._fields_)
        for name, value in changes.items():
            if name not in kinds:
                raise UsageError(f"there is no setting '{name}' of a beam, only {', '.join(kinds)}")
            choices = {"rule": _RULES, "feed": _FEEDS}.get(name)
            if choices and value not in choices:
                raise UsageError(f"{name} is {' or '.join(choices)}, not '{value}'")
            number = choices.index(value) if choices else value
            setattr(beam, name, number if kinds[name] is ctypes.c_double else whole(kinds[name], number, name))
        self._lib.tn_search_create(model.handle, encoded, entry.encode() if entry else None, ctypes.byref(beam),
                                   model.pool(threads), ctypes.byref(self._handle))
        symbols = numpy.array([whole(ctypes.c_int32, int(symbol), "a symbol") for symbol in exempt], numpy.int32)
        self._lib.tn_search_except(self.handle, address(symbols), len(symbols))

    def draw(self, first: int = 0, **sampling: Any) -> "Search":
        """From now on each symbol is drawn instead of searched for, and each text has one result. Settings as of
        Model.generator (greedy, temperature, top_k, top_p, seed), but for `limit`, which is that of the search; `first` is the
        number of the first text of a run: the draws of a text are those of its number."""
        if "limit" in sampling:
            raise UsageError("the limit of a search is given when it is made")
        settings = Sampling.of(self.model, self.block, **sampling)
        self._lib.tn_search_draw(self.handle, ctypes.byref(settings.struct()), whole(ctypes.c_int64, first, "first"))
        return self

    def set_input(self, name: str, values: Any) -> None:
        """Copies an input; it stays for the runs that follow. Its shape tells the sizes of its axes."""
        found = [each["dtype"] for entry in self.model.manifest["entries"] for each in entry["inputs"] if each["name"] == name]
        if not found:
            raise UsageError(f"the model has no input '{name}'")
        array = fit(values, Tensor(name, numpy.shape(values), dtype_named(found[0])), "input")
        self._lib.tn_search_set_input(self.handle, name.encode(), type_code(array.dtype), array.ndim,
                                      (ctypes.c_int64 * max(array.ndim, 1))(*array.shape), address(array))

    def run(self, prompts: Any, **inputs: Any) -> List[List[Hypothesis]]:
        """For each row of `prompts`, ids of equally many symbols, what goes on from it, best first. Sets the inputs that are
        given: rows for each text, as the entry says."""
        for name, values in inputs.items():
            self.set_input(name, values)
        rows = fit(prompts, Tensor("prompts", numpy.shape(prompts), numpy.dtype("i4")), "input")
        if rows.ndim != 2:
            raise UsageError(f"prompts are rows of equally many symbols, not an array with the shape {list(rows.shape)}")
        self._lib.tn_search_run(self.handle, rows.shape[0], rows.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)), rows.shape[1])
        return [[self._result(text, index) for index in range(self._lib.tn_search_count(self.handle, text))]
                for text in range(rows.shape[0])]

    def _result(self, text: int, index: int) -> Hypothesis:
        symbols, count = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_uint64()
        score, ended = ctypes.c_double(), ctypes.c_int32()
        self._lib.tn_search_result(self.handle, text, index, ctypes.byref(symbols), ctypes.byref(count), ctypes.byref(score),
                                   ctypes.byref(ended))
        return Hypothesis(symbols[:count.value], score.value, bool(ended.value))
