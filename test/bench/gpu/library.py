"""An artifact through the C interface, without numpy: values go by address. Also the profile that the runtime writes."""
import ctypes
import json
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("shape", c_int64 * 16), ("bytes", c_uint64)]


def load(path):
    library = ctypes.CDLL(path)
    library.tn_error_message.restype = library.tn_model_manifest.restype = c_char_p
    library.tn_error_message.argtypes = library.tn_model_manifest.argtypes = [c_void_p]
    fallible = {
        "tn_model_open": [c_char_p, c_char_p, POINTER(c_void_p)],
        "tn_model_initialize": [c_void_p, c_uint64],
        "tn_model_load": [c_void_p, c_char_p, c_char_p],
        "tn_model_parameter_info": [c_void_p, c_int, POINTER(TensorInfo)],
        "tn_model_get_parameter": [c_void_p, c_char_p, c_void_p, c_uint64],
        "tn_model_set_parameter": [c_void_p, c_char_p, c_void_p, c_uint64],
        "tn_model_get_gradient": [c_void_p, c_char_p, c_void_p, c_uint64],
        "tn_context_create": [c_void_p, c_char_p, POINTER(c_int64), c_int, c_void_p, POINTER(c_void_p)],
        "tn_context_set_input": [c_void_p, c_int, c_void_p, c_uint64],
        "tn_context_output_info": [c_void_p, c_int, POINTER(TensorInfo)],
        "tn_context_get_output": [c_void_p, c_int, c_void_p, c_uint64],
        "tn_context_get_scalar": [c_void_p, c_char_p, POINTER(c_double)],
        "tn_context_run": [c_void_p],
    }
    for name, types in fallible.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_void_p, types
        function.errcheck = lambda error, _function, _arguments: fail(library, error)
    for name, types in {"tn_model_close": [c_void_p], "tn_context_free": [c_void_p], "tn_model_parameter_count": [c_void_p],
                        "tn_context_set_step": [c_void_p, c_uint64], "tn_context_input_find": [c_void_p, c_char_p],
                        "tn_context_output_find": [c_void_p, c_char_p]}.items():
        getattr(library, name).argtypes = types
    return library


def fail(library, error):
    if error:
        raise RuntimeError(library.tn_error_message(error).decode("utf-8", "replace"))


class Model:
    """`profile`: what TENON_GPU_PROFILE is for it; the figures are there when it is closed."""

    def __init__(self, library, path, profile=None):
        self.library, self.handle, self.contexts = library, c_void_p(), {}
        self.profile = f"{path}/profile-{profile}.json" if profile else None
        if profile:
            if os.path.exists(self.profile):
                os.remove(self.profile)
            os.environ["TENON_GPU_PROFILE"] = f"{profile}:{self.profile}"
        try:
            library.tn_model_open(os.fsencode(path), None, byref(self.handle))
        finally:
            os.environ.pop("TENON_GPU_PROFILE", None)
        self.manifest = json.loads(library.tn_model_manifest(self.handle))
        self.parameters = {}
        info = TensorInfo()
        for number in range(library.tn_model_parameter_count(self.handle)):
            library.tn_model_parameter_info(self.handle, number, byref(info))
            self.parameters[info.name.decode()] = (tuple(info.shape[:info.rank]), info.bytes)

    def initialize(self, seed):
        self.library.tn_model_initialize(self.handle, seed)

    def load(self, path, names):
        self.library.tn_model_load(self.handle, os.fsencode(path), names.encode() if names else None)

    def set(self, name, address):
        self.library.tn_model_set_parameter(self.handle, name.encode(), address, self.parameters[name][1])

    def get(self, name):
        """f32, as ctypes array."""
        return self._read(lambda *place: self.library.tn_model_get_parameter(self.handle, name.encode(), *place),
                          self.parameters[name][1])

    def gradient(self, name):
        return self._read(lambda *place: self.library.tn_model_get_gradient(self.handle, name.encode(), *place),
                          self.parameters[name][1])

    @staticmethod
    def _read(read, size):
        values = (ctypes.c_float * (size // 4))()
        read(ctypes.addressof(values), size)
        return values

    def output_of(self, entry):
        """The name of the only output of an entry."""
        return next(one for one in self.manifest["entries"] if one["name"] == entry)["outputs"][0]["name"]

    def context(self, entry):
        if entry not in self.contexts:
            self.contexts[entry] = Context(self, entry)
        return self.contexts[entry]

    def close(self):
        """What the runtime has measured, or nothing."""
        for context in self.contexts.values():
            self.library.tn_context_free(context.handle)
        self.library.tn_model_close(self.handle)
        if not self.profile:
            return None
        with open(self.profile, encoding="utf-8") as file:
            return json.loads(file.readlines()[-1])


class Context:
    def __init__(self, model, entry):
        self.model, self.library, self.handle = model, model.library, c_void_p()
        self.library.tn_context_create(model.handle, entry.encode(), None, 0, None, byref(self.handle))

    def set_input(self, name, values):
        """`values`: a ctypes array."""
        self.library.tn_context_set_input(self.handle, self.library.tn_context_input_find(self.handle, name.encode()),
                                          ctypes.addressof(values), ctypes.sizeof(values))

    def run(self, step=None):
        if step is not None:
            self.library.tn_context_set_step(self.handle, step)
        self.library.tn_context_run(self.handle)

    def output(self, name):
        """f32, as ctypes array."""
        number, info = self.library.tn_context_output_find(self.handle, name.encode()), TensorInfo()
        self.library.tn_context_output_info(self.handle, number, byref(info))
        return Model._read(lambda *place: self.library.tn_context_get_output(self.handle, number, *place), info.bytes)

    def scalar(self, name):
        value = c_double()
        self.library.tn_context_get_scalar(self.handle, name.encode(), byref(value))
        return value.value
