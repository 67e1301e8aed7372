"""The command `tenon`: found, and called to compile a specification."""
from __future__ import annotations

import os
import shutil
import subprocess
from typing import Iterable, Mapping, Optional, Union

from ._errors import UsageError, error_of

Path = Union[str, "os.PathLike[str]"]


def find_command() -> str:
    """The command's path: the environment variable TENON, else `tenon` on PATH. UsageError where there is none."""
    wanted = os.environ.get("TENON")
    found = shutil.which(wanted or "tenon")
    if not found:
        raise UsageError(f"TENON names {wanted!r}, which is no command" if wanted
                         else "there is no command `tenon` on PATH; install Tenon, or set TENON to the command's path")
    return found


def compile(spec: Path, out: Path, *, model: Optional[str] = None, recipe: Optional[str] = None, entries: Iterable[str] = (),
            set: Optional[Mapping[str, object]] = None, bind: Optional[Mapping[str, int]] = None,
            numerics: Optional[str] = None, options: Iterable[str] = ()) -> str:
    """Compiles a specification (.tn) into the artifact folder `out`, which is returned; Model.open takes it.

    model, recipe: where the file has several. entries: only these. set: configs such as {"D": 256}. bind: dims made constant,
    such as {"B": 8}. numerics: "f32", "bf16" or "f16", instead of what the recipe's policy says. options: further ones of
    `tenon compile`. Raises what the command says, SpecError with file:line:col and all mistakes.
    """
    call = [find_command(), "compile", os.fspath(spec), "-o", os.fspath(out)]
    for option, values in (("--model", [model]), ("--recipe", [recipe]), ("--numerics", [numerics]), ("--entry", entries)):
        for value in values:
            call += [option, value] if value is not None else []
    for option, pairs in (("--set", set), ("--bind", bind)):
        for name, value in (pairs or {}).items():
            call += [option, f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    done = subprocess.run([*call, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode:
        message = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise error_of(done.returncode, message or f"tenon compile ended with {done.returncode}")
    return os.fspath(out)
