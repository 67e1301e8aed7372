"""A compiled model with its parameters."""
from __future__ import annotations

import ctypes
import difflib
import json
import os
from typing import Any, Dict, Iterator, List, MutableMapping, Optional, Sequence, Union

import numpy

from ._context import Context, Path, Tensor, Which, address, fit, note_taker
from ._errors import UnknownName, UsageError
from ._generate import Generator, Sampling
from ._handle import Handle
from ._library import Stayed, TensorInfo
from ._search import Search


class Parameters(MutableMapping[str, numpy.ndarray]):
    """The parameters of a model (or gradients, or moments) by name, such as "blocks.3.wq.weight". Reading copies out, assigning
    copies in; nothing is read before it is asked for. The set of names is fixed."""

    def __init__(self, model: "Model", read: Any, write: Any, tensors: Dict[str, Tensor]):
        self._model, self._read, self._write, self.tensors = model, read, write, tensors

    def _find(self, name: str) -> Tensor:
        if name not in self.tensors:
            near = difflib.get_close_matches(str(name), self.tensors, 1)
            raise UnknownName(f"the model has no parameter '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        return self.tensors[name]

    def __getitem__(self, name: str) -> numpy.ndarray:
        tensor = self._find(name)
        array = numpy.empty(tensor.shape, tensor.dtype)
        self._read(self._model.handle, name.encode(), address(array), array.nbytes)
        return array

    def __setitem__(self, name: str, values: Any) -> None:
        array = fit(values, self._find(name), "parameter")
        self._write(self._model.handle, name.encode(), address(array), array.nbytes)

    def __delitem__(self, name: str) -> None:
        raise UsageError("a compiled model keeps all its parameters")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)


class Model(Handle):
    """An artifact and one set of its parameters. Different models may be used from different threads, one with its contexts from
    one at a time."""

    _free = "tn_model_close"

    def __init__(self, path: Path, tier: Optional[str] = None):
        super().__init__()
        self._pools: Dict[int, ctypes.c_void_p] = {}
        self._lib.tn_model_open(os.fsencode(path), tier.encode() if tier else None, ctypes.byref(self._handle))
        self.manifest: Dict[str, Any] = json.loads(self._lib.tn_model_manifest(self._handle))
        self.tier: str = self._lib.tn_model_tier(self._handle).decode()
        self.entries: List[str] = [self._lib.tn_model_entry_name(self._handle, number).decode()
                                   for number in range(self._lib.tn_model_entry_count(self._handle))]
        tensors = self._tensors(self._lib.tn_model_parameter_count(self._handle), self._lib.tn_model_parameter_info)
        self.parameters = Parameters(self, self._lib.tn_model_get_parameter, self._lib.tn_model_set_parameter, tensors)
        self.gradients = Parameters(self, self._lib.tn_model_get_gradient, self._lib.tn_model_set_gradient, tensors)

    def _tensors(self, count: int, describe: Any, *which: int) -> Dict[str, Tensor]:
        tensors, info = {}, TensorInfo()
        for number in range(count):
            describe(self._handle, *which, number, ctypes.byref(info))
            tensors[info.name.decode()] = Tensor(info.name.decode(), info.sizes(), info.dtype(), number)
        return tensors

    @classmethod
    def open(cls, path: Path, tier: Optional[str] = None, which: Which = "") -> "Model":
        """Opens an artifact's folder, its library, or the `model` of a run directory together with a checkpoint (`which`: "" the
        newest, "best", or the number of its step). An artifact is code: open only what you trust. `tier`: one of the
        manifest's, or "best" (default: TENON_TIER, else "best"). Nothing runs before initialize, load, load_checkpoint or values
        for each parameter, but for a run directory, whose checkpoint is loaded."""
        inside = os.path.join(os.fspath(path), "model")
        if not os.path.isdir(os.path.join(os.fspath(path), "checkpoints")):
            if which != "":
                raise UsageError(f"{os.fspath(path)} is no run, so it has no checkpoint {which}")
            return cls(path, tier)
        model = cls(inside, tier)
        try:
            model.load_checkpoint(path, which)
        except BaseException:
            model.close()
            raise
        return model

    def close(self) -> None:
        """Gives the model back; contexts and generators keep what they use."""
        for pool in self._pools.values():
            self._lib.tn_threads_free(pool)
        self._pools.clear()
        super().close()

    def pool(self, threads: int) -> Optional[ctypes.c_void_p]:
        """The pool of so many threads (0: one per CPU), made once; None for one thread."""
        if threads == 1:
            return None
        if threads not in self._pools:
            made = ctypes.c_void_p()
            self._lib.tn_threads_create(threads, ctypes.byref(made))
            self._pools[threads] = made
        return self._pools[threads]

    @property
    def accumulate(self) -> int:
        """Batches of one optimizer step."""
        return int((self.manifest.get("optimizer") or {}).get("accumulate", 1))

    def dims(self, entry: str) -> List[str]:
        """Names of the sizes that an entry leaves open."""
        number = self._lib.tn_model_entry_find(self.handle, entry.encode())
        if number < 0:
            raise UsageError(f"the artifact has no entry '{entry}', only {', '.join(self.entries)}")
        return [self._lib.tn_model_dim_name(self.handle, number, dim).decode()
                for dim in range(self._lib.tn_model_dim_count(self.handle, number))]

    def initialize(self, seed: int = 0) -> None:
        """Every parameter from its initializer: the same values for the same seed on every machine."""
        self._lib.tn_model_initialize(self.handle, seed)

    def context(self, entry: str, threads: int = 1, **dims: int) -> Context:
        """The entry bound to sizes, with its buffers. threads = 0: one per CPU; results have the same bits for any number."""
        return Context(self, entry, dims, threads)

    @property
    def optimizer(self) -> str:
        """Kind of the compiled optimizer, "" without a train entry."""
        return self._lib.tn_model_optimizer(self.handle).decode()

    @property
    def moments(self) -> Dict[str, Parameters]:
        """The optimizer's moments, "moment1" and "moment2" as the files of a checkpoint call them: mappings like `parameters`. Of
        adafactor the first is of means of squares, "NAME.rows" and "NAME.columns" of a parameter that is a matrix."""
        result = {}
        for number in range(self._lib.tn_model_moment_count(self.handle)):
            def read(handle: Any, name: bytes, values: Any, size: int, number: int = number) -> None:
                self._lib.tn_model_get_moment(handle, number, name, values, size)

            def write(handle: Any, name: bytes, values: Any, size: int, number: int = number) -> None:
                self._lib.tn_model_set_moment(handle, number, name, values, size)

            count = self._lib.tn_model_moment_tensor_count(self.handle, number)
            tensors = self._tensors(count, self._lib.tn_model_moment_info, number)
            result[self._lib.tn_model_moment_name(self.handle, number).decode()] = Parameters(self, read, write, tensors)
        return result

    @property
    def loss_scale(self) -> float:
        """What the loss of the next step is multiplied by, in a model that trains in f16; between the halves of a step gradients
        are those of the loss times it."""
        scale, good = ctypes.c_double(), ctypes.c_int64()
        self._lib.tn_model_get_loss_scale(self.handle, ctypes.byref(scale), ctypes.byref(good))
        return scale.value

    @loss_scale.setter
    def loss_scale(self, scale: float) -> None:
        self._lib.tn_model_set_loss_scale(self.handle, scale, 0)

    def load(self, path: Path, names: Optional[str] = None, partial: bool = False) -> Dict[str, str]:
        """Reads parameters from safetensors, a file or a folder with shards. names: whose names it has, such as "hf". partial:
        what it lacks or has in another shape stays, and is returned with the reason; else nothing may be missing, and a failed
        load changes nothing."""
        scheme, stayed = names.encode() if names else None, {}
        if not partial:
            self._lib.tn_model_load(self.handle, os.fsencode(path), scheme)
            return stayed

        def take(_user: Any, name: bytes, reason: bytes) -> None:
            stayed[name.decode()] = reason.decode("utf-8", "replace")

        callback = Stayed(take)
        self._lib.tn_model_load_partial(self.handle, os.fsencode(path), scheme, callback, None)
        return stayed

    def save(self, path: Path, names: Optional[str] = None) -> None:
        """Writes parameters as safetensors; a failed save leaves the old file."""
        self._lib.tn_model_save(self.handle, os.fsencode(path), names.encode() if names else None)

    def load_checkpoint(self, directory: Path, which: Which = "") -> int:
        """Parameters of a checkpoint of a folder or run directory (`which`: "" the newest valid one, "best", or the number of its
        step); its step. To go on training: Context.load_checkpoint."""
        step, note = ctypes.c_uint64(), note_taker(3)
        self._lib.tn_model_load_checkpoint(self.handle, os.fsencode(directory), str(which).encode(), ctypes.byref(step), note,
                                           None)
        return step.value

    def generator(self, block: Optional[str] = None, entry: Optional[str] = None, stop: Optional[str] = None,
                  vocabulary: Optional[Path] = None,
                  threads: int = 1, **sampling: Any) -> Generator:
        """Streams text by `symbols` and `stream`. block: a generate block (default: the first); the rest replaces its settings:
        entry, stop, greedy, temperature, top_k, top_p, limit, seed. vocabulary: a run directory, its vocabulary.json, a file of
        symbols or a model of sentencepiece (default: bytes)."""
        return Generator(self, Sampling.of(self, block, **sampling), block, entry, stop, vocabulary, threads)

    def generate(self, prompt: Union[str, bytes, Sequence[int]] = "", **settings: Any) -> str:
        """The whole text that goes on from the prompt (not repeated); settings as in `generator`."""
        with self.generator(**settings) as generator:
            return "".join(generator.stream(prompt))

    def search(self, block: Optional[str] = None, entry: Optional[str] = None, exempt: Sequence[int] = (), threads: int = 1,
               **beam: Any) -> Search:
        """Several texts at once by beam search; see `run` there. block: a generate block (default: the first); the rest replaces
        its settings: entry, size, alpha, rule, stop, no_repeat, limit, feed, mask, where stop and mask are numbers of symbols.
        exempt: symbols that may be repeated, whatever no_repeat says."""
        return Search(self, block, entry, exempt, threads, **beam)
