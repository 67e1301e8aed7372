#!/usr/bin/env python3
"""Label smoothing against PyTorch: losses and gradients of cross_entropy(smoothing), over a class axis that is a number and over
a run-time one.

usage: smoothing.py [--f32] [--spoil]
  VALUES: PyTorch 2.13.0 on a CPU, f64, x[b, v] = 3 sin(0.37 (5 b + v) + 1), labels 2 0 4 1.
    torch:   F.cross_entropy(x, y, label_smoothing=0.1)
    ignored: the same with y[2] = ignore_index
    t2t:     mean of -(q * F.log_softmax(x, 1)).sum(1), q = 0.9 for the label, 0.1 / 4 for others (Tensor2Tensor's
             padded_cross_entropy, without the constant that it subtracts)
    padded:  the same with no weight for class 3, 0.1 / 3 for others (The Annotated Transformer, UniLM)
  --spoil: one number of each is changed, and each must be noticed
"""
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import driver  # noqa: E402
import tensors  # noqa: E402

B, V = 4, 5
LABELS = [2, 0, 4, 1]
VALUES = {
    "torch": (1.21523815321, [
        0.0395355189906, 0.0624642805064, -0.161349279156, 0.0418161198492, 0.0175333598094,
        -0.0657474366428, 0.0498164387544, 0.0138852006019, 0.00275855529962, -0.000712758013022,
        0.00532804242992, 0.00748371942262, 0.0170725840097, 0.0478501647025, -0.0777345105647,
        0.00435470392697, -0.204750376429, 0.0485330381296, 0.0755301961594, 0.0763324382135]),
    "ignored": (1.40049632896, [
        0.0527140253207, 0.0832857073419, -0.215132372207, 0.0557548264656, 0.0233778130792,
        -0.0876632488571, 0.0664219183391, 0.0185136008025, 0.00367807373283, -0.000950344017362,
        0, 0, 0, 0, 0,
        0.00580627190263, -0.273000501906, 0.0647107175061, 0.100706928213, 0.101776584285]),
    "t2t": (1.23773707341, [
        0.0382855189906, 0.0612142805064, -0.156349279156, 0.0405661198492, 0.0162833598094,
        -0.0607474366428, 0.0485664387544, 0.0126352006019, 0.00150855529962, -0.00196275801302,
        0.00407804242992, 0.00623371942262, 0.0158225840097, 0.0466001647025, -0.0727345105647,
        0.00310470392697, -0.199750376429, 0.0472830381296, 0.0742801961594, 0.0750824382135]),
    "padded": (1.2474539654, [
        0.0362021856572, 0.0591309471731, -0.156349279156, 0.0468161198492, 0.014200026476,
        -0.0607474366428, 0.046483105421, 0.0105518672685, 0.00775855529962, -0.00404609134635,
        0.00199470909658, 0.00415038608928, 0.0137392506764, 0.0528501647025, -0.0727345105647,
        0.00102137059364, -0.199750376429, 0.0451997047963, 0.0805301961594, 0.0729991048801]),
}
FORMS = {"torch": "smoothing = 0.1", "ignored": "smoothing = 0.1, form = \"torch\", where = y != 4",
         "t2t": "smoothing = 0.1, form = \"t2t\"", "padded": "smoothing = 0.1, form = \"t2t\", skip = 3"}


OPEN = [form for form in VALUES if form != "padded"]  # a class that `skip` names has to be there


def specification():
    """Every form over V classes, whose logits are a parameter, and over S ones, whose rows are multiplied by one."""
    lines = [f"model Smoothing {{\n  config B = {B}, V = {V}\n  dim S\n  in y: index(V)[B], place: index(S)[B], z: [B, S]"]
    for form, options in FORMS.items():
        reduced = "sum({}) / 3" if form == "ignored" else "mean({})"
        lines.append(f"  param {form}: [B, V] = 0\n  loss of_{form} = " +
                     reduced.format(f"cross_entropy[V]({form}, y, {options})"))
        if form in OPEN:
            at = options.replace("y != 4", "place != 4")
            lines.append(f"  param open_{form}: [B] = 1\n  loss of_open_{form} = " +
                         reduced.format(f"cross_entropy[S](z * open_{form}, place, {at})"))
    return "\n".join(lines + ["}"]) + "\n"


def losses_and_gradients(folder, kind, x):
    weights, out = (os.path.join(folder, name) for name in ("weights.safetensors", "grad.safetensors"))
    spec = driver.specification(specification(), "smoothing")
    values = {form: tensors.Tensor(kind, [B, V], x) for form in FORMS}
    values.update({f"open_{form}": tensors.Tensor(kind, [B], [1.0] * B) for form in OPEN})
    tensors.save_safetensors(weights, values)
    labels = tensors.Tensor("i32", [B], LABELS)
    inputs = {"y": labels, "place": labels, "z": tensors.Tensor(kind, [B, V], x)}
    driver.tenon("grad", spec, *([] if kind == "f32" else ["--f64"]), "--weights", weights, *driver.given(folder, inputs),
                 "--output", out)
    return tensors.load_safetensors(out)


def main():
    kind = "f32" if "--f32" in sys.argv else "f64"
    wrong, compared = [], 0
    tolerance = 2e-6 if kind == "f32" else 1e-11
    x = [3 * math.sin(0.37 * k + 1) for k in range(B * V)]
    with tempfile.TemporaryDirectory() as folder:
        got = losses_and_gradients(folder, kind, x)
    for form, (loss, gradient) in VALUES.items():
        gradient = list(gradient)
        if "--spoil" in sys.argv:
            gradient[7] += 1e-3
        by_row = [sum(gradient[b * V + v] * x[b * V + v] for v in range(V)) for b in range(B)]
        for name, wanted in [(form, gradient)] + ([(f"open_{form}", by_row)] if form in OPEN else []):
            pairs = [("loss", got[f"loss.of_{name}"].values[0], loss)]
            pairs += [(f"gradient {k}", *pair) for k, pair in enumerate(zip(got[name].values, wanted, strict=True))]
            compared += len(pairs)
            wrong += [f"{name}: {what} is {left}, PyTorch has {right}" for what, left, right in pairs
                      if not abs(left - right) <= tolerance]
    for line in wrong[:12]:
        print("WRONG:", line)
    print(f"{kind}: {compared} numbers compared, {len(wrong)} wrong")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
