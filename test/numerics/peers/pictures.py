"""Cases of ResNet: both blocks, with projections and without, batch norms in training. Sides that steps of 2 do not divide."""
from cases import case
from formulas import numbers, reals

B = 3


def pictures(step):
    return {"image": reals(1, step, B, 3, 22, 30), "label": numbers(2, step, 7, B)}


WIDTHS = {"Y": 22, "X": 30, "K": 7, "C0": 12, "n1": 2, "n2": 2, "n3": 2, "n4": 2}
RESNET = {"spec": "resnet.tn", "model": "ResNet", "names": "torchvision", "dims": {"B": B}, "loss": "ce", "inputs": pictures,
          "outputs": {"infer": ["logits"]}}
# Steps are small: a rounding that turns a ReLU behind a batch norm of few numbers grows tenfold from step to step otherwise.
# For the same reason gradients and later losses in f32 are rough, while outputs are not: in f64 alone, a relative change of all
# weights by 1e-7 moves gradients by up to 5e-5 and losses by 3e-6 (bottlenecks, the last of whose inner batch norms have three
# numbers: 2e-3 and 4e-3). f32 rounds at each op of 17 or 25 convolutions one behind the other; found are 2e-4 and 7e-6, 1e-2 and
# 5e-3.
case("resnet", **RESNET, rate=2e-5, rough=(50, 1), configs=WIDTHS | {"C1": 12, "C2": 20, "C3": 28, "C4": 36})
case("resnet_bottleneck", **RESNET, rate=1e-8, rough=(2000, 1000),
     configs=WIDTHS | {"Block": "Bottleneck", "C1": 24, "C2": 40, "C3": 56, "C4": 72})
case("resnet_early", **RESNET, rate=1e-8, rough=(2000, 1000),
     configs=WIDTHS | {"Block": "Bottleneck(early = true)", "C1": 24, "C2": 40, "C3": 56, "C4": 72, "n4": 1})
