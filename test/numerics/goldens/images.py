"""Golden cases of ResNet: one block in each stage, logits of both modes, running statistics."""
import math
import os
import re

import weights
import driver  # test/support, which weights.py has put in the path
import library
from tensors import Tensor, save_safetensors, tensor

SIDE, CLASSES = 32, 4
SETS = {"n1": 1, "n2": 1, "n3": 1, "n4": 1, "K": CLASSES, "Y": SIDE, "X": SIDE}

RECIPE = "train ResNet as golden {\n  bind B = 2\n  data = caller\n  loss = ce\n  optimizer = sgd(lr = 0.1)\n  steps = 1\n}\n"


def public_shapes(wide):
    """Of torchvision's ResNet with one block in each stage; `wide` is 4 with bottlenecks."""
    shapes, channels = {"conv1.weight": (64, 3, 7, 7), **weights.norm("bn1", 64)}, 64
    for stage, width in enumerate((64, 128, 256, 512), 1):
        at = f"layer{stage}.0."
        convolutions = [(channels, width, 3), (width, width, 3)] if wide == 1 else [
            (channels, width, 1), (width, width, 3), (width, 4 * width, 1)]
        for number, (inputs, outputs, size) in enumerate(convolutions, 1):
            shapes |= {f"{at}conv{number}.weight": (outputs, inputs, size, size), **weights.norm(f"{at}bn{number}", outputs)}
        if stage > 1 or wide > 1:
            shapes |= {at + "downsample.0.weight": (wide * width, channels, 1, 1),
                       **weights.norm(at + "downsample.1", wide * width)}
        channels = wide * width
    return shapes | {"fc.weight": (CLASSES, channels), "fc.bias": (CLASSES,)}


def own_name(name):
    """The specification's: the first block of a stage stands alone."""
    name = re.sub(r"^layer(\d)\.0\.", r"first\1.", name)
    return name.replace("downsample.0.", "down.").replace("downsample.1.", "down_bn.")


def images(case, wave, kind):
    values = [wave(k) for k in range(3 * SIDE * SIDE)]
    if case.options.spoil == "order":
        values[0], values[40] = values[40], values[0]
    return Tensor(kind, (1, 3, SIDE, SIDE), values)


def log_softmax(row):
    top = max(row)
    total = math.log(sum(math.exp(x - top) for x in row)) + top
    return [x - total for x in row]


def trained(case, artifact, made, both, kind):
    """Log-probabilities of both images in training mode, from the losses of all labels, and the statistics after one step."""
    model = library.Model(artifact, "train", {}, case.tier)
    for name, values in ((name, values) for name, values in made.items() if "running_" not in name):
        model.set_parameter(own_name(name), Tensor(kind, values.shape, values.values))
    model.set_input("image", both)
    rows, states = [[], []], None
    for image in range(2):
        for label in range(CLASSES):
            model.set_input("label", tensor("i32", [label, 0] if image == 0 else [0, label]))
            rows[image].append(-2 * model.run(gradients_only=True)["ce"].values[0])
            states = states or model.states()
    model.close()
    return [log_softmax(row) for row in rows], states


def resnet(case):
    v, spec = case.values, driver.model("resnet.tn")
    wide = 4 if case.options.case == "resnet_bottleneck" else 1
    sets = SETS | ({"Block": "Bottleneck", "wide": 4} if wide == 4 else {})
    made = {name: weights.filled(name, shape, 0.05) for name, shape in public_shapes(wide).items()}
    if case.options.spoil == "weight":
        made["layer2.0.conv2.weight"].values[-5] += 1e-2
    for norm in [name[:-len("weight")] for name in made if name.endswith(".weight") and len(made[name].shape) == 1]:
        channels = made[norm + "weight"].shape  # no statistics yet
        made[norm + "running_mean"] = Tensor("f64", channels, [0.0] * channels[0])
        made[norm + "running_var"] = Tensor("f64", channels, [1.0] * channels[0])
    path = os.path.join(case.folder, "weights.safetensors")
    save_safetensors(path, made)
    kind, precision = ("f64", ["--f64"]) if case.options.f64 else ("f32", [])
    first, second = images(case, lambda k: math.sin(0.11 * k), kind), images(case, lambda k: math.cos(0.13 * k), kind)
    found = driver.run(case.folder, spec, {"image": first}, ["logits"], "--weights", path, "--names", "torchvision", *precision,
                       *driver.settings(sets), environment=case.environment())
    case.same("logits", list(found["logits"].values), v["eval_logits"][0])
    with open(spec, encoding="utf-8") as file:
        step = driver.specification(file.read() + RECIPE, "resnet")
    care = kind == "f32" and case.tier == driver.best_tier()  # peers/ has ResNet in f64 alone
    artifact = driver.compiled(step, "--recipe", "golden", *precision, *([] if care else ["--quick"]), *driver.settings(sets),
                               "--tier", case.tier)
    both = Tensor(kind, (2, 3, SIDE, SIDE), list(first.values) + list(second.values))
    rows, states = trained(case, artifact, made, both, kind)
    # The last stage normalizes two numbers in each channel, an image's one place each: where they differ by less than
    # sqrt(eps), a difference grows 316-fold, in layer after layer. To round the images alone to f32 moves these logits by 8e-5.
    # Nine digits of each logit: the errors of four of them meet in a log-probability.
    for number, row in enumerate(v["train_logits_batch2"] if case.options.f64 else ()):
        case.same(f"training, image {number}", rows[number], log_softmax(row), 4e-8)
    case.same("running mean", list(states["bn1.running_mean"].values)[:4], v["bn1_running_mean_after"])
    case.same("running variance", list(states["bn1.running_var"].values)[:4], v["bn1_running_var_after"])


CASES = {"resnet_basic": resnet, "resnet_bottleneck": resnet}
