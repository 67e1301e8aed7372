"""Text, one symbol after the other, as `tenon generate` makes it."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Tuple, Union

from ._errors import UsageError
from ._handle import Handle
from ._library import SamplingStruct, filled, library, whole

if TYPE_CHECKING:
    from ._model import Model

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Sampling:
    """How symbols are drawn: greedy, or with the logits divided by `temperature`, from the `top_k` most probable ones (0: all)
    and of these the smallest set that reaches the probability `top_p`; `limit` symbols, the same ones for the same seed."""

    greedy: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    limit: int = 400
    seed: int = 0

    @staticmethod
    def of(model: "Model", block: Optional[str] = None, **changes: Any) -> "Sampling":
        """Settings of a generate block (the first one), with changes."""
        struct = SamplingStruct()
        library().tn_model_sampling(model.handle, block.encode() if block else None, ctypes.byref(struct))
        settings = Sampling(bool(struct.greedy), struct.temperature, struct.top_k, struct.top_p, struct.limit, struct.seed)
        unknown = sorted(set(changes) - set(Sampling.__dataclass_fields__))
        if unknown:
            raise UsageError(f"there is no sampling setting '{unknown[0]}', only {', '.join(Sampling.__dataclass_fields__)}")
        given = {name: value for name, value in changes.items() if value is not None}
        if not given.keys().isdisjoint({"temperature", "top_k", "top_p"}):
            given.setdefault("greedy", False)  # whatever the block says, as `tenon generate` does
        return replace(settings, **given)

    def struct(self) -> SamplingStruct:
        return filled(SamplingStruct, self.greedy, self.temperature, self.top_k, self.top_p, self.limit, self.seed)


class Generator(Handle):
    """Made by Model.generator. Uses the model's parameters as they are at each symbol."""

    _free = "tn_generator_free"

    def __init__(self, model: "Model", sampling: Sampling, block: Optional[str] = None, entry: Optional[str] = None,
                 stop: Optional[str] = None, vocabulary: Optional[Path] = None, threads: int = 1):
        super().__init__()
        self.model, self.sampling = model, sampling
        encoded = [text.encode() if text is not None else None for text in (block, entry, stop)]
        self._lib.tn_generator_create(model.handle, encoded[0], encoded[1], ctypes.byref(sampling.struct()), encoded[2],
                                      os.fsencode(vocabulary) if vocabulary is not None else None, model.pool(threads),
                                      ctypes.byref(self._handle))

    def symbols(self, prompt: Union[str, bytes, Sequence[int]] = "") -> Iterator[Tuple[int, str]]:
        """Begins a text with a prompt (text or ids; empty: the block's start) and yields (id, text) as symbols are drawn. The
        text comes in whole characters; what is left of it at the end comes with id -1. The prompt is not repeated. A new call
        ends the text before it."""
        if isinstance(prompt, (str, bytes)):
            raw = prompt.encode() if isinstance(prompt, str) else prompt
            self._lib.tn_generator_start_text(self.handle, raw, len(raw))
        else:
            ids = [whole(ctypes.c_int32, int(symbol), "a symbol") for symbol in prompt]
            self._lib.tn_generator_start(self.handle, (ctypes.c_int32 * max(len(ids), 1))(*ids), len(ids))
        return self._draw()

    def _draw(self) -> Iterator[Tuple[int, str]]:
        symbol, text, count = ctypes.c_int32(), ctypes.c_void_p(), ctypes.c_uint64()
        while True:
            self._lib.tn_generator_next(self.handle, ctypes.byref(symbol), ctypes.byref(text), ctypes.byref(count))
            piece = ctypes.string_at(text, count.value).decode("utf-8", "replace") if count.value else ""
            if symbol.value >= 0 or piece:
                yield symbol.value, piece
            if symbol.value < 0:
                return

    def stream(self, prompt: Union[str, bytes, Sequence[int]] = "") -> Iterator[str]:
        """Pieces of the text as they come."""
        return (piece for _, piece in self.symbols(prompt) if piece)

    @property
    def note(self) -> str:
        """Why the last text has ended before its limit, where its stop has not ended it: no place is left. Else ""."""
        return self._lib.tn_generator_note(self.handle).decode("utf-8", "replace")
