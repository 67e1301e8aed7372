"""torchvision's ResNet (models/resnet.py, v1.5) written anew in torch, of any widths; `early` as the paper has it."""
from torch import nn
from torch.nn import functional as F


def convolution(inputs, outputs, size, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class Block(nn.Module):
    """Basic, or a Bottleneck that steps in its 3x3 convolution, or (`early`) in its first one."""

    def __init__(self, inputs, outputs, stride, bottleneck, early):
        super().__init__()
        inner = outputs // 4
        made = [convolution(inputs, outputs, 3, stride), convolution(outputs, outputs, 3)]
        if bottleneck:
            first, second = (stride, 1) if early else (1, stride)
            made = [convolution(inputs, inner, 1, first), convolution(inner, inner, 3, second), convolution(inner, outputs, 1)]
        self.count = len(made)
        for place, part in enumerate(made, 1):
            setattr(self, f"conv{place}", part)
            setattr(self, f"bn{place}", nn.BatchNorm2d(part.out_channels))
        self.downsample = None
        if stride > 1 or inputs != outputs:
            self.downsample = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = x
        for place in range(1, self.count + 1):
            y = getattr(self, f"bn{place}")(getattr(self, f"conv{place}")(y))
            y = F.relu(y) if place < self.count else y
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, at):
        super().__init__()
        self.conv1, self.bn1 = convolution(3, at["C0"], 7, 2), nn.BatchNorm2d(at["C0"])
        inputs, kind = at["C0"], at.get("Block", "")
        for stage in range(1, 5):
            outputs, blocks = at[f"C{stage}"], []
            for place in range(at[f"n{stage}"]):
                stride = 2 if stage > 1 and place == 0 else 1
                blocks.append(Block(inputs, outputs, stride, kind.startswith("Bottleneck"), "early" in kind))
                inputs = outputs
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, at["K"])

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return self.fc(x.mean((2, 3)))


def resnet(case):
    def compute(module, given, _):
        before = module.eval()(given["image"]) # by the running statistics
        return F.cross_entropy(module.train()(given["image"]), given["label"]), {"logits": before}, None
    return ResNet(case.configs), compute


MODELS = {"resnet": resnet, "resnet_bottleneck": resnet, "resnet_early": resnet}
