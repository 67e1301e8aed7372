"""libtenon-runtime: where it is, and its functions with the types of <tenon/runtime.h>."""
from __future__ import annotations

import ctypes
import functools
import os
import shutil
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from typing import Any, List

import numpy

from ._errors import InputError, UsageError, error_of

_FILE = "libtenon-runtime.so"
_SONAME = "libtenon-runtime.so.0"
_TYPES = {0: numpy.dtype("f8"), 1: numpy.dtype("f4"), 4: numpy.dtype("i8"), 5: numpy.dtype("i4"), 12: numpy.dtype("bool")}

_NAMES = {"f64": 0, "f32": 1, "i64": 4, "i32": 5, "bool": 12}  # of a manifest

_LIMITS = {c_int32: (-2 ** 31, 2 ** 31 - 1), c_int64: (-2 ** 63, 2 ** 63 - 1), c_uint64: (0, 2 ** 64 - 1)}

Note = CFUNCTYPE(None, c_void_p, c_char_p)
GroupReady = CFUNCTYPE(None, c_void_p, c_int)
Stayed = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


def whole(kind: Any, value: Any, what: str) -> Any:
    """The value, where it is no integer or one that `kind` holds: ctypes would cut off its upper bits."""
    least, most = _LIMITS[kind]
    if isinstance(value, int) and not least <= value <= most:
        raise UsageError(f"{what} takes a whole number from {least} to {most}, not {value}")
    return value


def dtype_named(name: str) -> numpy.dtype:
    """The type that a manifest calls so."""
    if name not in _NAMES:
        raise UsageError(f"numpy has no type {name}")
    return _TYPES[_NAMES[name]]


def type_code(dtype: numpy.dtype) -> int:
    return next(code for code, each in _TYPES.items() if each == dtype)


def filled(structure: Any, *values: Any) -> Any:
    """A structure of these values by the order of its fields."""
    return structure(*(whole(kind, value, name) if kind in _LIMITS else value
                       for (name, kind), value in zip(structure._fields_, values)))


class TensorInfo(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("shape", c_int64 * 16), ("bytes", c_uint64)]

    def dtype(self) -> numpy.dtype:
        return _TYPES[self.type]

    def sizes(self) -> tuple:
        return tuple(self.shape[: self.rank])


class ProgressStruct(Structure):
    _fields_ = [("step", c_uint64), ("position", c_uint64), ("seed", c_uint64), ("skipped", c_uint64), ("seconds", c_double)]


class SamplingStruct(Structure):
    _fields_ = [("greedy", c_int32), ("temperature", c_double), ("top_k", c_int64), ("top_p", c_double), ("limit", c_int64),
                ("seed", c_uint64)]


class BeamStruct(Structure):
    _fields_ = [("size", c_int64), ("alpha", c_double), ("rule", c_int32), ("stop", c_int32), ("no_repeat", c_int64),
                ("limit", c_int64), ("feed", c_int32), ("mask", c_int32)]


_I, _P, _S, _N, _INFO = c_int, c_void_p, c_char_p, c_uint64, POINTER(TensorInfo)
# Functions that return a tn_error pointer.
_FALLIBLE = {
    "tn_threads_create": [_I, POINTER(_P)],
    "tn_model_open": [_S, _S, POINTER(_P)],
    "tn_model_initialize": [_P, _N],
    "tn_model_parameter_info": [_P, _I, _INFO],
    "tn_model_get_parameter": [_P, _S, _P, _N],
    "tn_model_set_parameter": [_P, _S, _P, _N],
    "tn_model_get_gradient": [_P, _S, _P, _N],
    "tn_model_moment_info": [_P, _I, _I, ctypes.POINTER(TensorInfo)],
    "tn_model_get_moment": [_P, _I, _S, _P, _N],
    "tn_model_set_moment": [_P, _I, _S, _P, _N],
    "tn_model_get_loss_scale": [_P, POINTER(c_double), POINTER(c_int64)],
    "tn_model_set_loss_scale": [_P, c_double, c_int64],
    "tn_model_load": [_P, _S, _S],
    "tn_model_load_partial": [_P, _S, _S, Stayed, _P],
    "tn_model_save": [_P, _S, _S],
    "tn_model_load_checkpoint": [_P, _S, _S, POINTER(_N), Note, _P],
    "tn_model_sampling": [_P, _S, POINTER(SamplingStruct)],
    "tn_context_create": [_P, _S, POINTER(c_int64), _I, _P, POINTER(_P)],
    "tn_context_input_info": [_P, _I, _INFO],
    "tn_context_output_info": [_P, _I, _INFO],
    "tn_context_state_info": [_P, _I, _INFO],
    "tn_context_set_input": [_P, _I, _P, _N],
    "tn_context_get_output": [_P, _I, _P, _N],
    "tn_context_get_state": [_P, _I, _P, _N],
    "tn_context_set_state": [_P, _I, _P, _N],
    "tn_context_lend_output": [_P, _I, _P],
    "tn_context_run": [_P],
    "tn_context_run_gradients": [_P],
    "tn_context_run_update": [_P],
    "tn_context_set_slices": [_P, c_int64, c_int64],
    "tn_model_set_gradient": [_P, _S, _P, _N],
    "tn_context_rewind": [_P, c_int64],
    "tn_context_save_checkpoint": [_P, _S, POINTER(ProgressStruct), _I],
    "tn_context_load_checkpoint": [_P, _S, _S, POINTER(ProgressStruct), Note, _P],
    "tn_generator_create": [_P, _S, _S, POINTER(SamplingStruct), _S, _S, _P, POINTER(_P)],
    "tn_generator_start": [_P, POINTER(c_int32), _N],
    "tn_generator_start_text": [_P, _S, _N],
    "tn_generator_next": [_P, POINTER(c_int32), POINTER(_P), POINTER(_N)],
    "tn_model_beam": [_P, _S, POINTER(BeamStruct)],
    "tn_search_create": [_P, _S, _S, POINTER(BeamStruct), _P, POINTER(_P)],
    "tn_search_except": [_P, _P, c_int64],
    "tn_search_draw": [_P, POINTER(SamplingStruct), c_int64],
    "tn_search_set_input": [_P, _S, c_int32, c_int32, POINTER(c_int64), _P],
    "tn_search_run": [_P, c_int64, POINTER(c_int32), c_int64],
    "tn_search_result": [_P, c_int64, _I, POINTER(POINTER(c_int32)), POINTER(_N), POINTER(c_double), POINTER(c_int32)],
}
_OTHERS = {
    "tn_abi_version": (_I, []),
    "tn_error_code": (_I, [_P]),
    "tn_error_message": (_S, [_P]),
    "tn_error_free": (None, [_P]),
    "tn_threads_count": (_I, [_P]),
    "tn_threads_free": (None, [_P]),
    "tn_model_close": (None, [_P]),
    "tn_model_manifest": (_S, [_P]),
    "tn_model_tier": (_S, [_P]),
    "tn_model_entry_count": (_I, [_P]),
    "tn_model_entry_name": (_S, [_P, _I]),
    "tn_model_entry_find": (_I, [_P, _S]),
    "tn_model_dim_count": (_I, [_P, _I]),
    "tn_model_dim_name": (_S, [_P, _I, _I]),
    "tn_model_parameter_count": (_I, [_P]),
    "tn_model_parameter_find": (_I, [_P, _S]),
    "tn_model_optimizer": (_S, [_P]),
    "tn_model_moment_count": (_I, [_P]),
    "tn_model_moment_name": (_S, [_P, _I]),
    "tn_model_moment_tensor_count": (_I, [_P, _I]),
    "tn_context_free": (None, [_P]),
    "tn_context_input_count": (_I, [_P]),
    "tn_context_output_count": (_I, [_P]),
    "tn_context_state_count": (_I, [_P]),
    "tn_context_step": (_N, [_P]),
    "tn_context_set_seed": (None, [_P, _N]),
    "tn_context_set_step": (None, [_P, _N]),
    "tn_context_set_total_steps": (None, [_P, _N]),
    "tn_context_set_flags": (None, [_P, _N]),
    "tn_context_group_count": (_I, [_P]),
    "tn_context_group_size": (_I, [_P, _I]),
    "tn_context_group_parameter": (_I, [_P, _I, _I]),
    "tn_context_on_group": (None, [_P, GroupReady, _P]),
    "tn_context_slice_count": (c_int64, [_P]),
    "tn_context_reset_states": (None, [_P]),
    "tn_context_position": (c_int64, [_P]),
    "tn_context_capacity": (c_int64, [_P]),
    "tn_context_bytes": (_N, [_P]),
    "tn_generator_free": (None, [_P]),
    "tn_generator_note": (_S, [_P]),
    "tn_search_free": (None, [_P]),
    "tn_search_count": (_I, [_P, c_int64]),
}


def _candidates() -> List[str]:
    """Files to try, best first; what the environment names stands alone."""
    wanted = os.environ.get("TENON_LIBRARY")
    if wanted:
        return [os.path.join(wanted, _FILE) if os.path.isdir(wanted) else wanted]
    command = os.environ.get("TENON") or shutil.which("tenon")
    folders = []
    if command:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(command)))
        folders = [os.path.join(prefix, name) for name in ("lib", "lib64", "lib/x86_64-linux-gnu")]
    found = [os.path.join(folder, name) for folder in folders for name in (_FILE, _SONAME)]
    return [path for path in found if os.path.exists(path)] + [_FILE, _SONAME]


class Library:
    """The functions by name, found when they are first used; those that can fail raise."""

    def __init__(self, functions: ctypes.CDLL, path: str):
        self.path = path
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name not in _OTHERS and name not in _FALLIBLE:
            raise AttributeError(name)
        try:
            function = getattr(self._functions, name)
        except AttributeError:
            raise InputError(f"{self.path} has no function {name}: it is the library of an older Tenon than this "
                             "package") from None
        if name in _OTHERS:
            function.restype, function.argtypes = _OTHERS[name]
        else:
            function.restype, function.argtypes, function.errcheck = c_void_p, _FALLIBLE[name], self._check
        numbers = [(place, kind) for place, kind in enumerate(function.argtypes) if kind in _LIMITS]

        def call(*arguments: Any) -> Any:
            for place, kind in numbers:
                whole(kind, arguments[place], name[len("tn_"):])
            return function(*arguments)

        setattr(self, name, call if numbers else function)
        return getattr(self, name)

    def _check(self, error: Any, _function: Any, _arguments: Any) -> None:
        if error:
            code, message = self.tn_error_code(error), self.tn_error_message(error).decode("utf-8", "replace")
            self.tn_error_free(error)
            raise error_of(code, message)


@functools.lru_cache(maxsize=1)
def library() -> Library:
    """The library, loaded once. InputError with the files that were tried where there is none."""
    tried = []
    for path in _candidates():
        try:
            return Library(ctypes.CDLL(path), path)
        except OSError as problem:
            tried.append(str(problem))
    raise InputError("libtenon-runtime is not found; install Tenon so that the command `tenon` is on PATH, or set TENON_LIBRARY "
                     "to the library's path ("
                     + "; ".join(tried) + ")")


def library_path() -> str:
    """The file that libtenon-runtime was loaded from."""
    return library().path
