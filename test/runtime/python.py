"""The Python package against the command `tenon`, bit by bit: python.py SPEC FOLDER [--spoil]     --spoil: one batch is
another"""
import json
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
        for step in range(HALF, HALF + 2):
            context.train_step(**batch(step, shape))
        context.save_checkpoint(os.path.join(folder, "kept"))
    second = tenon.Model.open(os.path.join(folder, "model"))
    with second.context("train") as context:
        progress = context.load_checkpoint(os.path.join(folder, "kept"), HALF)
        assert (progress.step, progress.position, context.step) == (HALF, HALF, HALF), progress
        check_groups(second, context, batch(0, shape))
        losses, told = {}, []
        context.on_group(told.append)
        for step in range(HALF, STEPS):  # in halves
            losses = context.gradients(**batch(step, shape))
            assert "grad_norm" not in losses and context.step == step
            losses |= context.update()
        assert told == list(range(len(context.groups))) * (STEPS - HALF), told
    assert losses["loss"] == losses["nll"] and losses["learning_rate"] == 0.01 and losses["grad_norm"] > 0, losses
    return second


def check_groups(model, context, inputs):
    """Each gradient is in one group, and may be assigned; a batch is one slice here."""
    assert sorted(name for group in context.groups for name in group) == sorted(model.parameters), context.groups
    step, name = context.step, next(iter(model.parameters))
    context.gradients(step=0, **inputs)
    model.gradients[name] = model.gradients[name] * 2
    assert model.gradients[name].any()
    calls = []

    def fail(group):
        calls.append(group)
        raise ValueError("nobody is there")

    context.on_group(fail)
    try:
        context.gradients(step=0, **inputs)
        sys.exit("WRONG: what a callback raises is lost")
    except ValueError as error:
        assert str(error) == "nobody is there" and len(calls) == 1, (error, calls)
    context.on_group(None)
    context.gradients(step=0, **inputs)
    context.step = step
    assert context.slices == 1
    expect(tenon.UsageError, 2, "has the slices 0 to 0, not 2 from 0 on", lambda: context.set_slices(0, 2))
    with model.context("step", B=1, T=1, T_capacity=4) as other:
        assert other.groups == []
        expect(tenon.UsageError, 2, "has no update half", other.update)


def check_checkpoints(model, folder):
    """The newest checkpoint of a folder, a numbered one, and those that are not there; moments that are written; a part of a
    file."""
    kept, name = os.path.join(folder, "kept"), next(iter(model.parameters))
    with tenon.Model.open(os.path.join(folder, "model")) as other:
        assert other.load_checkpoint(kept) == HALF + 2
        newest = other.parameters[name]
        assert other.load_checkpoint(kept, HALF) == HALF and other.parameters[name].tobytes() != newest.tobytes()
        assert other.load_checkpoint(kept, str(HALF + 2)) == HALF + 2 and other.parameters[name].tobytes() == newest.tobytes()
        expect(tenon.InputError, 3, f"no checkpoint of step 99 in {kept}; there are: {HALF + 2}, {HALF}",
               lambda: other.load_checkpoint(kept, 99))
        expect(tenon.InputError, 3, "there is no best checkpoint", lambda: other.load_checkpoint(kept, "best"))
        expect(tenon.UsageError, 2, "is the number of its step, or best, not 'worst'",
               lambda: other.context("train").load_checkpoint(kept, "worst"))
        expect(tenon.UsageError, 2, "is no run", lambda: tenon.Model.open(os.path.join(folder, "model"), which="best"))
        with other.context("train") as context:
            assert context.load_checkpoint(kept, HALF).step == HALF
            expect(tenon.UsageError, 2, "has shape", lambda: other.moments["moment1"].__setitem__(name, [0.0]))
            moment = numpy.arange(newest.size, dtype=newest.dtype).reshape(newest.shape)
            other.moments["moment1"][name] = moment
            assert other.moments["moment1"][name].tobytes() == moment.tobytes() != other.moments["moment2"][name].tobytes()
            context.save_checkpoint(os.path.join(folder, "moments"))
        with tenon.Model.open(os.path.join(folder, "model")) as third, third.context("train") as context:
            context.load_checkpoint(os.path.join(folder, "moments"))
            assert third.moments["moment1"][name].tobytes() == moment.tobytes()
    check_partial(model, folder)


def check_partial(model, folder):
    """A file that lacks one parameter: an error, or what stays is listed."""
    names, path = list(model.parameters), os.path.join(folder, "part.safetensors")
    model.save(path)
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, values = file.read(size), file.read()
    lost = names[-1]
    with open(path, "wb") as file:  # a tensor under another name: the file lacks it, and has one that the model does not know
        file.write(size.to_bytes(8, "little") + header.replace(f'"{lost}"'.encode(), f'"{"x" * len(lost)}"'.encode()) + values)
    with tenon.Model.open(os.path.join(folder, "model")) as other:
        other.initialize(3)
        before = other.parameters[lost]
        expect(tenon.InputError, 3, lost, lambda: other.load(path))
        stayed = other.load(path, partial=True)
        assert list(stayed) == [lost] and stayed[lost], stayed
        assert other.parameters[lost].tobytes() == before.tobytes()
        assert all(other.parameters[name].tobytes() == model.parameters[name].tobytes() for name in names if name != lost)


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
    check_checkpoints(ours, folder)
    for name, moment in ours.moments.items():
        same(name, arrays(moment), arrays(theirs.moments[name]))
    command("train", spec, *options, "--out", resumed)
    with tenon.Model.open(resumed) as third:
        same("resumed by the command", arrays(ours.parameters), arrays(third.parameters))
    return run, ours, theirs


class OnlyDLPack:
    """A tensor of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def compare_running(run, model, folder):
    ids = numpy.frombuffer(TEXT[:6], numpy.uint8).reshape(1, 6).astype(numpy.int32)
    numpy.save(os.path.join(folder, "ids.npy"), ids)
    command("run", run, "--entry", "step", "--bind", "T_capacity=8", "--input", f"ids=@{folder}/ids.npy", "--output",
            f"logits=@{folder}/logits.npy")
    with model.context("step", B=1, T=6, T_capacity=8) as context, model.context("step", B=1, T=2, T_capacity=8) as short:
        logits = context.run(ids=ids)["logits"]
        same("logits", {"logits": logits}, {"logits": numpy.load(os.path.join(folder, "logits.npy"))})
        context.rewind(0)
        same("logits of a DLPack input", {"logits": context.run(ids=OnlyDLPack(ids))["logits"]}, {"logits": logits})
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


def compare_generation(run, model, bounded):
    for extra, settings in (([], {}), (["--greedy"], {"greedy": True}),
                            (["--top-k", "5", "--top-p", "0.9", "--seed", "3"], {"top_k": 5, "top_p": 0.9, "seed": 3})):
        theirs = command("generate", run, "--prompt", "the ", "--length", "30", *extra)
        ours = model.generate("the ", limit=30, vocabulary=run, **settings)
        assert theirs.decode() == "the " + ours + "\n", (theirs, ours)
    with model.generator(limit=30, greedy=True) as generator:
        symbols = list(generator.symbols([ord(c) for c in "the "]))
        assert len(symbols) == 30 and "".join(text for _, text in symbols) == model.generate("the ", limit=30, greedy=True)
        assert len(list(generator.stream("the "))) == 30
        assert generator.note == ""
    stopped = model.generate("the ", limit=200, greedy=True, stop=chr(symbols[4][0]))
    assert len(stopped) <= 5 and theirs, stopped
    with tenon.Model.open(bounded) as small, small.generator(limit=20, greedy=True) as generator:
        small.initialize(1)
        drawn = list(generator.symbols("the "))
        assert len(drawn) == 13, drawn
        assert "the text ends after 13 of 20 symbols: the entry step keeps at most 16 places" in generator.note, generator.note
    print("texts: the same")


def check_search(spec, folder):
    """A search finds what the command does, and takes the size of an axis of 2*A places from its array."""
    changed, out, weights = (os.path.join(folder, name) for name in ("halves.tn", "halves", "halves.safetensors"))
    with open(spec, encoding="utf-8") as good, open(changed, "w", encoding="utf-8") as file:
        file.write(good.read().replace("dim    B, T", "dim    B, T, A, Y = 2 * A\n  in     mel: [B, Y]").replace(
            "dot[D](mix(emb[V: ids]), emb)", "dot[D](mix(emb[V: ids] + sum[Y](mel)), emb)").replace(
                "sample(temperature = 0.8, limit = 40)", "greedy"))
    tenon.compile(changed, out, entries=["step"], options=["--no-recipe", "--quick", "--tier", "best"])
    mel = numpy.array([[0.5, 1, 0.25, -1], [2, 0, 0.25, 1]], numpy.float32)
    numpy.save(os.path.join(folder, "mel.npy"), mel)
    with tenon.Model.open(out) as model, model.search(size=3, limit=6, alpha=0.6, rule="t2t") as search:
        model.initialize(5)
        model.save(weights)
        found = search.run([list(b"a")] * 2, mel=mel)
        lines = command("generate", out, "--weights", weights, "--beam", "3", "--length", "6", "--alpha", "0.6", "--prompt", "a",
                        "--json", "--input", f"mel=@{folder}/mel.npy").decode().splitlines()
        for ours, theirs in zip(found, map(json.loads, lines), strict=True):
            assert [each.symbols for each in ours] == [each["ids"] for each in theirs], (ours, theirs)
            assert [each.score for each in ours] == [each["score"] for each in theirs], (ours, theirs)
        drawn = ["--temperature", "3", "--top-k", "50", "--seed", "9"]
        lines = command("generate", out, "--weights", weights, *drawn, "--length", "6", "--prompt", "a", "--json", "--input",
                        f"mel=@{folder}/mel.npy").decode().splitlines()
        theirs = [[each["ids"] for each in json.loads(line)] for line in lines]
        search.draw(temperature=3, top_k=50, seed=9)
        assert [[each.symbols for each in text] for text in search.run([list(b"a")] * 2, mel=mel)] == theirs, theirs
        search.draw(first=1, temperature=3, top_k=50, seed=9)
        assert [each.symbols for each in search.run([list(b"a")], mel=mel[1:])[0]] == theirs[1], theirs
        search.draw(temperature=3, top_k=50, seed=10)
        assert [[each.symbols for each in text] for text in search.run([list(b"a")] * 2, mel=mel)] != theirs, theirs
        expect(tenon.UsageError, 2, "the limit of a search is given when it is made", lambda: search.draw(limit=3))
        expect(tenon.UsageError, 2, "the number of the first text is below 0", lambda: search.draw(first=-1))
        expect(tenon.UsageError, 2, "temperature", lambda: search.draw(temperature=0))
        expect(tenon.UsageError, 2, "has 3 places along Y: no 2*A with a whole A", lambda: search.run([[97]], mel=[[1, 2, 3]]))
        expect(tenon.UsageError, 2, "no input 'mal'", lambda: search.run([[97]], mal=[[1.0]]))
        expect(tenon.UsageError, 2, "rule is t2t or hf or unilm, not 'best'", lambda: model.search(rule="best"))
        expect(tenon.UsageError, 2, "there is no setting 'width' of a beam", lambda: model.search(width=3))
    print("searches: the same")


def check_numerics(spec, folder):
    """The manifest says which numerics an artifact was compiled with."""
    for numerics, split, copies in ((None, None, None), ("bf16", "bf16", None), ("f16", None, "f16"), ("f32", None, None)):
        out = tenon.compile(spec, os.path.join(folder, f"numerics-{numerics}"), recipe="small", numerics=numerics,
                            options=["--quick", "--tier", "best"])
        manifests = [name for name in os.listdir(out) if name.endswith(".json")]
        with open(os.path.join(out, *manifests), encoding="utf-8") as manifest:
            said = json.load(manifest)
            assert (said.get("split"), said.get("copies")) == (split, copies), numerics
    expect(tenon.UsageError, 2, "bf8", lambda: tenon.compile(spec, os.path.join(folder, "none"), numerics="bf8"))


def check_settings(spec, folder):
    """What is set between runs: the seed of dropout, the length of a schedule in epochs, gradients alone; batches per update."""
    changed, out = os.path.join(folder, "settings.tn"), os.path.join(folder, "settings")
    with open(spec, encoding="utf-8") as good, open(changed, "w", encoding="utf-8") as file:
        file.write(good.read().replace("mix(emb[V: ids])", "mix(dropout(emb[V: ids], 0.5))").replace(
            "optimizer  = adam(lr = 1e-2)", "optimizer = sgd(lr = 1e-2)  schedule = linear(epochs = 1)  accumulate = 2"))
    tenon.compile(changed, out, recipe="small", options=["--quick", "--tier", "best"])
    with tenon.Model.open(out) as model, model.context("train") as context:
        assert model.accumulate == 2
        model.initialize(0)
        before, inputs = arrays(model.parameters), batch(0, context.inputs["ids"].shape)

        def loss(seed):
            context.set_seed(seed)
            return context.train_step(step=0, **inputs)["loss"]

        expect(tenon.UsageError, 2, "the schedule counts epochs; say first how many steps", lambda: loss(1))
        context.set_total_steps(4)
        context.gradients_only()
        assert loss(1) == loss(1) != loss(2), "a seed is the draws of dropout"
        context.train_step(step=1, **inputs)
        assert all(model.parameters[name].tobytes() == values.tobytes() for name, values in before.items()), "a step was done"
        assert model.gradients["emb"].any()
        context.gradients_only(False)
        loss(1)
        assert model.parameters["emb"].tobytes() == before["emb"].tobytes(), "an update after one batch of two"
        rates = []
        for total in (4, 8):
            context.set_total_steps(total)
            rates += [context.train_step(step=step, **inputs)["learning_rate"] for step in (3, 5)]
        assert numpy.allclose(rates, [0.0075, 0.005, 0.00875, 0.0075]), rates
        assert model.parameters["emb"].tobytes() != before["emb"].tobytes()
    print("settings: as expected")


def check_errors(spec, folder, model):
    broken = os.path.join(folder, "broken.tn")
    with open(spec, encoding="utf-8") as good, open(broken, "w", encoding="utf-8") as file:
        file.write(good.read().replace("Linear[D", "Linaer[D"))
    expect(tenon.SpecError, 1, "broken.tn:8:25", lambda: tenon.compile(broken, os.path.join(folder, "none")))
    assert model.accumulate == 1
    expect(tenon.UsageError, 2, "no dim X", lambda: model.context("step", B=1, T=1, T_capacity=1, X=1))
    expect(tenon.UsageError, 2, "the size B is a whole number, not 2.9", lambda: model.context("step", B=2.9, T=1, T_capacity=1))
    expect(tenon.UnknownName, 2, "no parameter 'embb'; did you mean 'emb'?", lambda: model.parameters["embb"])
    assert "embb" not in model.parameters and model.parameters.get("embb") is None
    expect(tenon.UsageError, 2, "no entry 'stop'", lambda: model.context("stop"))
    expect(tenon.InputError, 3, "does not exist", lambda: tenon.Model.open(os.path.join(folder, "nothing")))
    expect(tenon.InputError, 3, "no checkpoint", lambda: model.context("train").load_checkpoint(folder + "/broken"))
    expect(tenon.UsageError, 2, "temperature", lambda: model.generate("a", temperature=-1))
    expect(tenon.UsageError, 2, "no sampling setting 'heat'", lambda: model.generate("a", heat=1))
    for seed in (2 ** 64, -1):  # ctypes would take their lower bits
        expect(tenon.UsageError, 2, f"from 0 to {2 ** 64 - 1}, not {seed}", lambda: model.initialize(seed))
        expect(tenon.UsageError, 2, f"seed takes a whole number from 0 to {2 ** 64 - 1}, not {seed}",
               lambda: model.generate("a", seed=seed))
    expect(tenon.UsageError, 2, "the size B takes", lambda: model.context("step", B=2 ** 64 + 1, T=1, T_capacity=1))
    expect(tenon.UsageError, 2, "a symbol takes", lambda: model.generate([2 ** 32]))
    model.generate("a", greedy=True, temperature=0, top_p=0, limit=1)  # what draws is not used
    expect(tenon.UsageError, 2, "symbols from 0 to", lambda: model.generate("a", limit=2 ** 63 - 1))
    context = model.context("train")
    for field, value in (("seconds", float("nan")), ("seconds", float("inf")), ("position", 2 ** 64 - 1), ("step", 2 ** 63)):
        progress = tenon.Progress(**{"step": 1, "position": 1, field: value})
        expect(tenon.UsageError, 2, f"the {field} of a tn_progress",
               lambda: context.save_checkpoint(os.path.join(folder, "unsaved"), progress))
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
    bounded = os.path.join(folder, "bounded.tn")
    with open(spec, encoding="utf-8") as file, open(bounded, "w", encoding="utf-8") as changed:
        changed.write(file.read().replace("dim    B, T", "dim    B, T <= 16"))
    tenon.compile(bounded, os.path.join(folder, "bounded"), entries=["step"], options=["--no-recipe", "--quick"])
    compare_generation(run, theirs, os.path.join(folder, "bounded"))
    check_search(spec, folder)
    check_errors(spec, folder, ours)
    check_numerics(spec, folder)
    check_settings(spec, folder)
    assert "torch" not in sys.modules


main()
