"""What the library lends: held from the call that makes it until close(), the end of a `with` block, or the last reference."""
from __future__ import annotations

import ctypes
from typing import TypeVar

from ._errors import UsageError
from ._library import library

Held = TypeVar("Held", bound="Handle")


class Handle:
    """An object of the C interface. A class of these names the function that gives it back, and the object in its messages."""

    _free = ""

    def __init__(self) -> None:
        self._lib, self._handle = library(), ctypes.c_void_p()

    def __str__(self) -> str:
        return f"this {type(self).__name__.lower()}"

    @property
    def handle(self) -> ctypes.c_void_p:
        """The object itself, for calls of the library; UsageError after close()."""
        if not self._handle:
            raise UsageError(f"{self} is closed")
        return self._handle

    def close(self) -> None:
        """Gives it back; what it gave to others stays what it is."""
        if self._handle:
            getattr(self._lib, self._free)(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self: Held) -> Held:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()
