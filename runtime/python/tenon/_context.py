"""One entry of a model with its sizes: inputs, outputs, states, training steps, checkpoints."""
from __future__ import annotations

import ctypes
import operator
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy

from ._errors import UsageError
from ._handle import Handle
from ._library import GroupReady, Note, ProgressStruct, TensorInfo, filled, whole

if TYPE_CHECKING:
    from ._model import Model

Path = Union[str, "os.PathLike[str]"]
Which = Union[str, int]  # a checkpoint: "" the newest, "best", or a step


_OF_UPDATE = ("grad_norm", "learning_rate")  # outputs of a train entry that its update half writes


@dataclass(frozen=True)
class Tensor:
    """Name, shape and element type of an input, output, state or parameter; `number` is its place in the C interface."""

    name: str
    shape: Tuple[int, ...]
    dtype: numpy.dtype
    number: int = 0


@dataclass
class Progress:
    """Where a training is: optimizer steps done, index of the next batch, seed, skipped updates, seconds of training."""

    step: int = 0
    position: int = 0
    seed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def note_taker(stack: int) -> Any:
    """A callback that turns what the library remarks into warnings. Keep it alive during the call."""
    return Note(lambda _user, sentence: warnings.warn(sentence.decode("utf-8", "replace"), stacklevel=stack))


def fit(values: Any, tensor: Tensor, what: str) -> numpy.ndarray:
    """`values` as a dense array of the tensor's type. Real numbers go into reals, whole numbers into indices; nothing is rounded
    silently."""
    if not isinstance(values, numpy.ndarray) and hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = numpy.from_dlpack(values)  # what numpy would take for a single object
    array = numpy.asarray(values)
    if array.shape != tensor.shape:
        raise UsageError(f"{what} '{tensor.name}' has shape {list(tensor.shape)}, got {list(array.shape)}")
    if array.dtype == tensor.dtype:
        return numpy.ascontiguousarray(array)
    kind, want = array.dtype.kind, tensor.dtype.kind
    if not (kind in "iuf" and want == "f" or kind in "iu" and want == "i"):
        raise UsageError(f"{what} '{tensor.name}' holds {tensor.dtype.name}, got {array.dtype.name}")
    result = numpy.ascontiguousarray(array, dtype=tensor.dtype)
    if want == "i" and not numpy.array_equal(result, array):
        raise UsageError(f"{what} '{tensor.name}' holds {tensor.dtype.name}, and some values are larger")
    return result


def address(array: numpy.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def aligned(tensor: Tensor) -> numpy.ndarray:
    """A zero-filled array on a border of 64 bytes, as a lent buffer must be; it has room for one element at least."""
    count = int(numpy.prod(tensor.shape, dtype=numpy.int64)) * tensor.dtype.itemsize
    space = numpy.zeros(max(count, 64) + 64, numpy.uint8)
    first = -space.ctypes.data % 64
    return space[first:first + count].view(tensor.dtype).reshape(tensor.shape)


class Context(Handle):
    """An entry bound to sizes; made by Model.context. Not for several threads at once, nor at the same time as another context of
    its model."""

    _free = "tn_context_free"

    def __init__(self, model: "Model", entry: str, dims: Mapping[str, int], threads: int):
        super().__init__()
        self.model, self.entry = model, entry
        names = model.dims(entry)
        unknown, missing = sorted(set(dims) - set(names)), [name for name in names if name not in dims]
        if unknown or missing:
            raise UsageError(f"entry '{entry}' " + (f"has no dim {unknown[0]}" if unknown
                                                    else f"needs a size for {', '.join(missing)}")
                             + f"; its dims are {', '.join(names) or 'none'}")
        for name in names:
            if isinstance(dims[name], bool) or not hasattr(dims[name], "__index__"):
                raise UsageError(f"the size {name} is a whole number, not {dims[name]!r}")
        self.dims: Dict[str, int] = {name: operator.index(dims[name]) for name in names}
        values = (ctypes.c_int64 * max(len(names), 1))(
            *(whole(ctypes.c_int64, size, f"the size {name}") for name, size in self.dims.items()))
        self._lib.tn_context_create(model.handle, entry.encode(), values, len(names), model.pool(threads),
                                    ctypes.byref(self._handle))
        self._ready: Any = None  # a callback lives as long as it may be called
        self._raised: Optional[BaseException] = None  # by it
        self.inputs, self.outputs, self.states = (self._tensors(what) for what in ("input", "output", "state"))

    def _tensors(self, what: str) -> Dict[str, Tensor]:
        result, info = {}, TensorInfo()
        for number in range(getattr(self._lib, f"tn_context_{what}_count")(self.handle)):
            getattr(self._lib, f"tn_context_{what}_info")(self.handle, number, ctypes.byref(info))
            result[info.name.decode()] = Tensor(info.name.decode(), info.sizes(), info.dtype(), number)
        return result

    def __str__(self) -> str:
        return f"this context of '{self.entry}'"

    def _find(self, what: str, tensors: Dict[str, Tensor], name: str) -> Tensor:
        if name not in tensors:
            raise UsageError(f"entry '{self.entry}' has no {what} '{name}', only {', '.join(tensors) or 'none'}")
        return tensors[name]

    def set_input(self, name: str, values: Any) -> None:
        """Copies an input; it stays for the runs that follow."""
        tensor = self._find("input", self.inputs, name)
        array = fit(values, tensor, "input")
        self._lib.tn_context_set_input(self.handle, tensor.number, address(array), array.nbytes)

    def run(self, **inputs: Any) -> Dict[str, numpy.ndarray]:
        """Sets the inputs that are given, calls the entry once and returns its outputs. The arrays are new and belong to the
        caller: the entry writes into them directly, and numpy.from_dlpack or torch.from_dlpack take them without a copy. After an
        error states are as before."""
        return self._call("tn_context_run", inputs)

    def _call(self, function: str, inputs: Mapping[str, Any]) -> Dict[str, numpy.ndarray]:
        for name, values in inputs.items():
            self.set_input(name, values)
        arrays = {name: aligned(tensor) for name, tensor in self.outputs.items()}
        self._raised = None
        try:
            for name, array in arrays.items():
                self._lib.tn_context_lend_output(self.handle, self.outputs[name].number, address(array))
            getattr(self._lib, function)(self.handle)
        finally:
            for tensor in self.outputs.values():
                self._lib.tn_context_lend_output(self.handle, tensor.number, None)
        if self._raised is not None:
            raise self._raised
        return arrays

    def train_step(self, step: Optional[int] = None, **inputs: Any) -> Dict[str, float]:
        """One batch of a train entry; its losses, gradient norm and rate by name. `step`: number of the batch from 0 (default:
        the one after the last call's, which load_checkpoint sets)."""
        self._lib.tn_context_set_step(self.handle, self.step if step is None else step)
        outputs = self.run(**inputs)
        self._lib.tn_context_set_step(self.handle, self.step + 1)
        return {name: float(array) for name, array in outputs.items() if array.ndim == 0}

    def gradients(self, step: Optional[int] = None, **inputs: Any) -> Dict[str, float]:
        """The first half of train_step: forward and backward pass of one batch; its losses. Parameters stay as they are,
        Model.gradients has what was computed, and what is assigned there is what `update` takes."""
        self._lib.tn_context_set_step(self.handle, self.step if step is None else step)
        outputs = self._call("tn_context_run_gradients", inputs)
        return {name: float(array) for name, array in outputs.items() if array.ndim == 0 and name not in _OF_UPDATE}

    def update(self) -> Dict[str, float]:
        """The second half: clipping and the optimizer step by the gradients that the model has; gradient norm and rate. The step
        counts on."""
        outputs = self._call("tn_context_run_update", {})
        self._lib.tn_context_set_step(self.handle, self.step + 1)
        return {name: float(outputs[name]) for name in _OF_UPDATE if name in outputs}

    @property
    def groups(self) -> List[List[str]]:
        """Names of parameters, in the order in which a run finishes their gradients; each has one place."""
        names, lib, handle = list(self.model.parameters), self._lib, self.handle
        return [[names[lib.tn_context_group_parameter(handle, group, index)]
                 for index in range(lib.tn_context_group_size(handle, group))]
                for group in range(lib.tn_context_group_count(handle))]

    def on_group(self, ready: Optional[Callable[[int], None]]) -> None:
        """`ready(number)` is called when the gradients of a group are finished, while the run goes on behind it; None: nobody is.
        It may read and assign Model.gradients of that group, and call nothing else of this model. The run waits for it. What it
        raises is raised when the run has ended, and it is not called again before."""
        def call(_user: Any, group: int) -> None:
            if self._raised is None:
                try:
                    ready(group)  # type: ignore[misc]
                except BaseException as error:  # nothing passes through C
                    self._raised = error
        self._ready = GroupReady(call) if ready else GroupReady()
        self._lib.tn_context_on_group(self.handle, self._ready, None)

    @property
    def slices(self) -> int:
        """In how many slices the recipe cuts a batch."""
        return self._lib.tn_context_slice_count(self.handle)

    def set_slices(self, first: int, count: int) -> None:
        """Which of them `gradients` computes: parts of the tree over all of them that are added to each other."""
        self._lib.tn_context_set_slices(self.handle, first, count)

    @property
    def step(self) -> int:
        """Number of the next training batch, from 0; the optimizer's step too unless the recipe accumulates."""
        return self._lib.tn_context_step(self.handle)

    @step.setter
    def step(self, value: int) -> None:
        self._lib.tn_context_set_step(self.handle, value)

    def set_seed(self, seed: int) -> None:
        """Of dropout and sampling."""
        self._lib.tn_context_set_seed(self.handle, seed)

    def set_total_steps(self, steps: int) -> None:
        """Length of a schedule that the recipe gives in epochs."""
        self._lib.tn_context_set_total_steps(self.handle, steps)

    def gradients_only(self, only: bool = True) -> None:
        """Steps that leave parameters alone: Model.gradients has what they computed."""
        self._lib.tn_context_set_flags(self.handle, 1 if only else 0)

    def get_state(self, name: str) -> numpy.ndarray:
        """A copy of a state, stack sizes first."""
        tensor = self._find("state", self.states, name)
        array = numpy.empty(tensor.shape, tensor.dtype)
        self._lib.tn_context_get_state(self.handle, tensor.number, address(array), array.nbytes)
        return array

    def set_state(self, name: str, values: Any) -> None:
        tensor = self._find("state", self.states, name)
        array = fit(values, tensor, "state")
        self._lib.tn_context_set_state(self.handle, tensor.number, address(array), array.nbytes)

    def reset_states(self) -> None:
        """Initial values; those of the model (running averages) stay."""
        self._lib.tn_context_reset_states(self.handle)

    @property
    def position(self) -> int:
        """Places that an entry which walks an axis keeps; -1 for other entries."""
        return self._lib.tn_context_position(self.handle)

    @property
    def capacity(self) -> int:
        """How many places there can be; -1 for entries that walk no axis."""
        return self._lib.tn_context_capacity(self.handle)

    def rewind(self, count: int) -> None:
        """Forgets all kept places but the first `count`; to 0 only where recurrences keep their last place alone."""
        self._lib.tn_context_rewind(self.handle, count)

    def save_checkpoint(self, directory: Path, progress: Optional[Progress] = None, keep: int = 3) -> Progress:
        """Writes DIRECTORY/step-N with parameters, moments and states, safe against crashes; older ones beyond `keep` go. Into
        RUN/checkpoints of a run directory, `tenon train` goes on from it. Without `progress`: the steps that train_step has made,
        no seed, no skipped ones."""
        if progress is None:
            progress = Progress(self.step // self.model.accumulate, self.step)
        struct = filled(ProgressStruct, progress.step, progress.position, progress.seed, progress.skipped, progress.seconds)
        self._lib.tn_context_save_checkpoint(self.handle, os.fsencode(directory), ctypes.byref(struct), keep)
        return progress

    def load_checkpoint(self, directory: Path, which: Which = "") -> Progress:
        """A checkpoint of a folder or run directory into parameters, moments and states; seed and step are set. `which`: "" the
        newest valid one, "best" that of the best evaluation, or the number of its step. What it remarks (a damaged checkpoint
        passed over, another recipe) comes as warnings."""
        struct, note = ProgressStruct(), note_taker(3)
        self._lib.tn_context_load_checkpoint(self.handle, os.fsencode(directory), str(which).encode(), ctypes.byref(struct), note,
                                             None)
        return Progress(struct.step, struct.position, struct.seed, struct.skipped, struct.seconds)

    @property
    def bytes(self) -> int:
        """Its buffers, without parameters."""
        return self._lib.tn_context_bytes(self.handle)
