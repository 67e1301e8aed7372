"""The runtime's C interface (runtime/include/tenon/runtime.h) from Python: one process can step one artifact many times, at any
step number."""
import array
import ctypes
import os
import shutil

from tensors import TYPES, Tensor

KINDS = {0: "f64", 1: "f32", 4: "i64", 5: "i32", 12: "bool"}


class Info(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 16),
                ("bytes", ctypes.c_uint64)]


class Refused(Exception):
    pass


def _open():
    program = shutil.which("tenon")
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(program))), "lib", "libtenon-runtime.so")
    library = ctypes.CDLL(path)
    library.tn_error_message.restype = ctypes.c_char_p
    library.tn_model_dim_name.restype = ctypes.c_char_p
    return library


LIBRARY = _open()
POINTER = ctypes.c_void_p
GROUP_READY = ctypes.CFUNCTYPE(None, POINTER, ctypes.c_int)


def call(name, *arguments):
    """Calls a function that returns tn_error *."""
    function = getattr(LIBRARY, name)
    function.restype = POINTER
    error = function(*arguments)
    if error:
        message = LIBRARY.tn_error_message(POINTER(error)).decode()
        LIBRARY.tn_error_free(POINTER(error))
        raise Refused(f"{name}: {message}")


def _tensor(info, read):
    """`read(buffer, bytes)` fills it."""
    kind = KINDS[info.type]
    values = array.array(TYPES[kind][0], bytes(info.bytes))
    buffer, _ = values.buffer_info()
    read(POINTER(buffer), ctypes.c_uint64(info.bytes))
    return Tensor(kind, info.shape[:info.rank], values)


def _write(values, write):
    buffer, length = values.values.buffer_info()
    write(POINTER(buffer), ctypes.c_uint64(length * values.values.itemsize))


class Beam(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64), ("alpha", ctypes.c_double), ("rule", ctypes.c_int32), ("stop", ctypes.c_int32),
                ("no_repeat", ctypes.c_int64), ("limit", ctypes.c_int64), ("feed", ctypes.c_int32), ("mask", ctypes.c_int32)]
    exempt = ()  # symbols for tn_search_except


class Model:
    """An artifact with its parameters; `entry` is called at these dims, by name."""

    def __init__(self, path, entry, dims, tier=None, threads=1):
        self.model, self.context, pool = POINTER(), POINTER(), POINTER()
        call("tn_threads_create", ctypes.c_int(threads), ctypes.byref(pool))
        call("tn_model_open", path.encode(), tier.encode() if tier else None, ctypes.byref(self.model))
        number = LIBRARY.tn_model_entry_find(self.model, entry.encode())
        names = [LIBRARY.tn_model_dim_name(self.model, number, k).decode()
                 for k in range(LIBRARY.tn_model_dim_count(self.model, number))]
        values = (ctypes.c_int64 * max(1, len(names)))(*[dims[name] for name in names])
        call("tn_model_initialize", self.model, ctypes.c_uint64(1))
        call("tn_context_create", self.model, entry.encode(), values, len(names), pool, ctypes.byref(self.context))
        LIBRARY.tn_threads_free(pool)

    def close(self):
        LIBRARY.tn_context_free(self.context)
        LIBRARY.tn_model_close(self.model)

    def parameters(self):
        """Information by name."""
        result = {}
        for k in range(LIBRARY.tn_model_parameter_count(self.model)):
            info = Info()
            call("tn_model_parameter_info", self.model, k, ctypes.byref(info))
            result[info.name.decode()] = info
        return result

    def parameter(self, name, what="parameter"):
        return _tensor(self.parameters()[name], lambda data, size: call(f"tn_model_get_{what}", self.model, name.encode(),
                                                                        data, size))

    def set_parameter(self, name, values):
        _write(values, lambda data, size: call("tn_model_set_parameter", self.model, name.encode(), data, size))

    def load(self, path, names=None):
        """Parameters from a safetensors file; `names`: a table of the artifact, such as "hf"."""
        call("tn_model_load", self.model, path.encode(), names.encode() if names else None)

    def save(self, path, names=None):
        call("tn_model_save", self.model, path.encode(), names.encode() if names else None)

    def gradient(self, name):
        return self.parameter(name, "gradient")

    def inputs(self):
        return self._infos("input")

    def _infos(self, what):
        result = {}
        for k in range(getattr(LIBRARY, f"tn_context_{what}_count")(self.context)):
            info = Info()
            call(f"tn_context_{what}_info", self.context, k, ctypes.byref(info))
            result[info.name.decode()] = (k, info)
        return result

    def set_input(self, name, values):
        number, _ = self.inputs()[name]
        _write(values, lambda data, size: call("tn_context_set_input", self.context, number, data, size))

    def run(self, step=0, seed=0, gradients_only=False):
        """Outputs by name."""
        LIBRARY.tn_context_set_step(self.context, ctypes.c_uint64(step))
        LIBRARY.tn_context_set_seed(self.context, ctypes.c_uint64(seed))
        LIBRARY.tn_context_set_flags(self.context, ctypes.c_uint64(1 if gradients_only else 0))
        call("tn_context_run", self.context)
        return {name: _tensor(info, lambda data, size, k=k: call("tn_context_get_output", self.context, k, data, size))
                for name, (k, info) in self._infos("output").items()}

    def set_state(self, name, values):
        number, _ = self._infos("state")[name]
        _write(values, lambda data, size: call("tn_context_set_state", self.context, number, data, size))

    def rewind(self, count):
        call("tn_context_rewind", self.context, ctypes.c_int64(count))

    def half(self, which, step=0, seed=0):
        """Runs "gradients" or "update"; outputs by name, also those that the other half writes."""
        LIBRARY.tn_context_set_step(self.context, ctypes.c_uint64(step))
        LIBRARY.tn_context_set_seed(self.context, ctypes.c_uint64(seed))
        call(f"tn_context_run_{which}", self.context)
        return {name: _tensor(info, lambda data, size, k=k: call("tn_context_get_output", self.context, k, data, size))
                for name, (k, info) in self._infos("output").items()}

    def moment_tensors(self, number):
        """Information by name."""
        result = {}
        for k in range(LIBRARY.tn_model_moment_tensor_count(self.model, number)):
            info = Info()
            call("tn_model_moment_info", self.model, number, k, ctypes.byref(info))
            result[info.name.decode()] = info
        return result

    def moment(self, number, name):
        return _tensor(self.moment_tensors(number)[name], lambda data, size: call(
            "tn_model_get_moment", self.model, ctypes.c_int(number), name.encode(), data, size))

    def loss_scale(self):
        """The scale, and the good updates since it changed."""
        scale, good = ctypes.c_double(), ctypes.c_int64()
        call("tn_model_get_loss_scale", self.model, ctypes.byref(scale), ctypes.byref(good))
        return scale.value, good.value

    def set_loss_scale(self, scale, good):
        call("tn_model_set_loss_scale", self.model, ctypes.c_double(scale), ctypes.c_int64(good))

    def set_gradient(self, name, values):
        _write(values, lambda data, size: call("tn_model_set_gradient", self.model, name.encode(), data, size))

    def set_slices(self, first, count):
        call("tn_context_set_slices", self.context, ctypes.c_int64(first), ctypes.c_int64(count))

    def groups(self):
        """Names of the parameters of each group of gradients."""
        names = list(self.parameters())
        size = LIBRARY.tn_context_group_size
        return [[names[LIBRARY.tn_context_group_parameter(self.context, group, k)] for k in range(size(self.context, group))]
                for group in range(LIBRARY.tn_context_group_count(self.context))]

    def on_group(self, ready):
        """`ready(number)` when a group is finished; the model keeps it alive."""
        self.ready = GROUP_READY(lambda _, group: ready(group))
        LIBRARY.tn_context_on_group(self.context, self.ready, None)

    def states(self):
        return {name: _tensor(info, lambda data, size, k=k: call("tn_context_get_state", self.context, k, data, size))
                for name, (k, info) in self._infos("state").items()}

    def search(self, beam, inputs, prompts, entry="step", threads=1):
        """A beam search over as many texts as there are prompts; per text its (symbols, score, ended), best first."""
        search, pool = POINTER(), POINTER()
        call("tn_threads_create", ctypes.c_int(threads), ctypes.byref(pool))
        call("tn_search_create", self.model, None, entry.encode(), ctypes.byref(beam), pool, ctypes.byref(search))
        LIBRARY.tn_threads_free(pool)
        call("tn_search_except", search, (ctypes.c_int32 * max(1, len(beam.exempt)))(*beam.exempt),
             ctypes.c_int64(len(beam.exempt)))
        for name, value in inputs.items():
            kind = next(number for number, each in KINDS.items() if each == value.kind)
            shape = (ctypes.c_int64 * max(1, len(value.shape)))(*value.shape)
            _write(value, lambda data, size, name=name, kind=kind, shape=shape, rank=len(value.shape): call(
                "tn_search_set_input", search, name.encode(), ctypes.c_int32(kind), ctypes.c_int32(rank), shape, data))
        flat = [symbol for prompt in prompts for symbol in prompt]
        try:
            call("tn_search_run", search, ctypes.c_int64(len(prompts)), (ctypes.c_int32 * len(flat))(*flat),
                 ctypes.c_int64(len(prompts[0])))
            return [[self._found(search, text, index) for index in range(LIBRARY.tn_search_count(search, ctypes.c_int64(text)))]
                    for text in range(len(prompts))]
        finally:
            LIBRARY.tn_search_free(search)

    @staticmethod
    def _found(search, text, index):
        symbols, count, score, ended = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_uint64(), ctypes.c_double(), ctypes.c_int32()
        call("tn_search_result", search, ctypes.c_int64(text), ctypes.c_int(index), ctypes.byref(symbols), ctypes.byref(count),
             ctypes.byref(score), ctypes.byref(ended))
        return list(symbols[:count.value]), score.value, bool(ended.value)
