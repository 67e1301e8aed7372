"""The Python package against the command `tenon`, bit by bit: python.py SPEC FOLDER [--spoil]     --spoil: one batch is another"""
import os
import subprocess
import sys
import warnings

import numpy
import tenon

STEPS, HALF = 12, 5
TEXT = b"the cat sat on the mat, and the dog ate the rat. " * 40


def command(*arguments):
    done = subprocess.run([tenon.find_command(), *arguments], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"WRONG: {arguments}: {done.stderr.decode()}")
    return done.stdout


def expect(kind, code, text, call):
    """The exception of a kind, with a piece of its message."""
    try:
        call()
    except tenon.TenonError as error:
        if type(error) is not kind or error.code != code or text not in str(error):
            sys.exit(f"WRONG: {type(error).__name__} {error.code}: {error}; expected {kind.__name__} with '{text}'")
        return
    sys.exit(f"WRONG: no {kind.__name__} with '{text}'")


def same(what, ours, theirs):
    differ = [name for name in theirs if name not in ours or ours[name].tobytes() != theirs[name].tobytes()]
    print(f"{what}: {'OTHER bytes' if differ or len(ours) != len(theirs) else 'the same bytes'}")
    return not differ


def batch(step, shape, spoil=False):
    """Number `step` of byte_stream: B streams that follow each other in the text, segments of T."""
    rows, places = shape
    at = (numpy.arange(rows) * (len(TEXT) // rows))[:, None] + step * places + numpy.arange(places)
    text = numpy.frombuffer(TEXT, numpy.uint8)
    return {"ids": text[at] + (1 if spoil and step == 3 else 0), "target": text[at + 1]}


def train(model, folder, spoil):
    """Half of the steps, a checkpoint, and the rest in a second model that goes on from it."""
    model.initialize(0)
    with model.context("train", threads=2) as context:
        shape = context.inputs["ids"].shape
        for step in range(HALF):
            context.train_step(**batch(step, shape, spoil))
        context.save_checkpoint(os.path.join(folder, "kept"))
        context.save_checkpoint(folder + "/resumed/checkpoints")
    second = tenon.Model.open(os.path.join(folder, "model"))
    with second.context("train") as context:
        progress = context.load_checkpoint(os.path.join(folder, "kept"))
        assert (progress.step, progress.position, context.step) == (HALF, HALF, HALF), progress
        losses = {}
        for step in range(HALF, STEPS):
            losses = context.train_step(**batch(step, shape))
    assert losses["loss"] == losses["nll"] and losses["learning_rate"] == 0.01 and losses["grad_norm"] > 0, losses
    return second


def arrays(mapping):
    return dict(mapping.items())


def compare_training(spec, folder, spoil):
    run, resumed, text = (os.path.join(folder, name) for name in ("run", "resumed", "text.txt"))
    with open(text, "wb") as file:
        file.write(TEXT)
    options = ["--recipe", "small", "--text", text, "--held-out", "0", "--steps", str(STEPS), "--quiet"]
    command("train", spec, *options, "--out", run)
    tenon.compile(spec, os.path.join(folder, "model"), recipe="small")
    os.mkdir(resumed)
    with tenon.Model.open(os.path.join(folder, "model")) as model:
        ours = train(model, folder, spoil)
    theirs = tenon.Model.open(run)
    if not same("parameters", arrays(ours.parameters), arrays(theirs.parameters)):
        sys.exit("WRONG: another training than that of the command")
    with theirs.context("train") as context, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert context.load_checkpoint(run).step == STEPS
    for name, moment in ours.moments.items():
        same(name, arrays(moment), arrays(theirs.moments[name]))
    command("train", spec, *options, "--out", resumed)
    with tenon.Model.open(resumed) as third:
        same("resumed by the command", arrays(ours.parameters), arrays(third.parameters))
    return run, ours, theirs


def compare_running(run, model, folder):
    ids = numpy.frombuffer(TEXT[:6], numpy.uint8).reshape(1, 6).astype(numpy.int32)
    numpy.save(os.path.join(folder, "ids.npy"), ids)
    command("run", run, "--entry", "step", "--bind", "T_capacity=8", "--input", f"ids=@{folder}/ids.npy", "--output", f"logits=@{folder}/logits.npy")
    with model.context("step", B=1, T=6, T_capacity=8) as context, model.context("step", B=1, T=2, T_capacity=8) as short:
        logits = context.run(ids=ids)["logits"]
        same("logits", {"logits": logits}, {"logits": numpy.load(os.path.join(folder, "logits.npy"))})
        shared = numpy.from_dlpack(logits)
        assert shared.ctypes.data == logits.ctypes.data, "a copy"
        kept = logits.copy()
        assert context.position == 6 and context.capacity == 8
        expect(tenon.InputError, 3, "6 are taken", context.run)
        expect(tenon.UsageError, 2, "cannot go back to 7", lambda: context.rewind(7))
        first = short.run(ids=ids[:, :2])["logits"]
        second = short.run(ids=ids[:, 2:4])["logits"]
        states = {name: short.get_state(name) for name in short.states}
        short.rewind(2)
        again = short.run(ids=ids[:, 2:4])["logits"]
        assert first.tobytes() != second.tobytes() == again.tobytes(), "rewound to another place"
        short.reset_states()
        assert short.position == 0
        for name, state in states.items():
            short.set_state(name, state)
        assert short.position == 4
        assert kept.tobytes() == logits.tobytes(), "an output changed after it was given"
    assert shared.sum() == kept.sum(), "an output died with its context"


def compare_generation(run, model):
    for extra, settings in (([], {}), (["--greedy"], {"greedy": True}), (["--top-k", "5", "--top-p", "0.9", "--seed", "3"], {"top_k": 5, "top_p": 0.9, "seed": 3})):
        theirs = command("generate", run, "--prompt", "the ", "--length", "30", *extra)
        ours = model.generate("the ", limit=30, vocabulary=run, **settings)
        assert theirs.decode() == "the " + ours + "\n", (theirs, ours)
    with model.generator(limit=30, greedy=True) as generator:
        symbols = list(generator.symbols([ord(c) for c in "the "]))
        assert len(symbols) == 30 and "".join(text for _, text in symbols) == model.generate("the ", limit=30, greedy=True)
        assert len(list(generator.stream("the "))) == 30
    stopped = model.generate("the ", limit=200, greedy=True, stop=chr(symbols[4][0]))
    assert len(stopped) <= 5 and theirs, stopped
    print("texts: the same")


def check_errors(spec, folder, model):
    broken = os.path.join(folder, "broken.tn")
    with open(spec, encoding="utf-8") as good, open(broken, "w", encoding="utf-8") as file:
        file.write(good.read().replace("Linear[D", "Linaer[D"))
    expect(tenon.SpecError, 1, "broken.tn:8:23", lambda: tenon.compile(broken, os.path.join(folder, "none")))
    expect(tenon.UsageError, 2, "no dim X", lambda: model.context("step", B=1, T=1, T_capacity=1, X=1))
    expect(tenon.UsageError, 2, "no entry 'stop'", lambda: model.context("stop"))
    expect(tenon.InputError, 3, "does not exist", lambda: tenon.Model.open(os.path.join(folder, "nothing")))
    expect(tenon.InputError, 3, "no checkpoint", lambda: model.context("train").load_checkpoint(folder + "/broken"))
    expect(tenon.UsageError, 2, "temperature", lambda: model.generate("a", temperature=-1))
    expect(tenon.UsageError, 2, "no sampling setting 'heat'", lambda: model.generate("a", heat=1))
    with model.context("step", B=1, T=2, T_capacity=4) as context:
        expect(tenon.UsageError, 2, "reads the input 'ids', which was never set", context.run)
        expect(tenon.InputError, 3, "holds 300 at [0, 1], expected 0 .. 255", lambda: context.run(ids=[[0, 300]]))
        expect(tenon.UsageError, 2, "has shape [1, 2], got [2]", lambda: context.run(ids=[0, 1]))
        expect(tenon.UsageError, 2, "holds int32, got float64", lambda: context.run(ids=[[0.5, 1]]))
        expect(tenon.UsageError, 2, "some values are larger", lambda: context.run(ids=[[2**40, 1]]))
        expect(tenon.UsageError, 2, "no input 'idx'", lambda: context.run(idx=[[0, 1]]))
    expect(tenon.UsageError, 2, "is closed", context.run)
    saved = os.path.join(folder, "weights.safetensors")
    model.save(saved)
    before = model.parameters["emb"]
    model.parameters["emb"] = before * 2
    assert model.load(saved) == {} and model.parameters["emb"].tobytes() == before.tobytes()
    expect(tenon.UsageError, 2, "no names 'hf'", lambda: model.load(saved, names="hf"))
    print("errors: as expected")


def main():
    spec, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder)
    run, ours, theirs = compare_training(spec, folder, "--spoil" in sys.argv)
    compare_running(run, theirs, folder)
    compare_generation(run, theirs)
    check_errors(spec, folder, ours)
    assert "torch" not in sys.modules


main()
