"""ResNet (v1.5) with torchvision's names, channels last, as oneDNN's convolutions want them. A token is an image."""
import torch
from torch import nn
from torch.nn import functional as F


def convolution(inputs, outputs, size, stride=1):
    made = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    nn.init.kaiming_normal_(made.weight, mode="fan_out", nonlinearity="relu")
    return made


def shortcut(inputs, outputs, stride):
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


class Basic(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = convolution(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = convolution(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.downsample = shortcut(inputs, outputs, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class Bottleneck(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        inner = outputs // 4
        self.conv1, self.bn1 = convolution(inputs, inner, 1), nn.BatchNorm2d(inner)
        self.conv2, self.bn2 = convolution(inner, inner, 3, stride), nn.BatchNorm2d(inner)
        self.conv3, self.bn3 = convolution(inner, outputs, 1), nn.BatchNorm2d(outputs)
        self.downsample = shortcut(inputs, outputs, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class Model(nn.Module):
    decayed = staticmethod(lambda name: True)

    def __init__(self, size):
        super().__init__()
        block, wide = {"Basic": Basic, "Bottleneck": Bottleneck}[size["Block"]], size["wide"]
        self.conv1, self.bn1 = convolution(3, 64, 7, 2), nn.BatchNorm2d(64)
        inputs = 64
        for stage, width in enumerate((64, 128, 256, 512), 1):
            blocks = [block(inputs if k == 0 else width * wide, width * wide, 2 if k == 0 and stage > 1 else 1)
                      for k in range(size[f"n{stage}"])]
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
            inputs = width * wide
        self.fc = nn.Linear(inputs, size["K"])
        self.to(memory_format=torch.channels_last)

    def forward(self, image, label):
        x = image.contiguous(memory_format=torch.channels_last)
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return {"ce": F.cross_entropy(self.fc(x.mean((2, 3))), label.long())}


def inputs(size, generator):
    return {"image": torch.randn(size["B"], 3, size["Y"], size["X"], generator=generator),
            "label": torch.randint(0, size["K"], (size["B"],), generator=generator, dtype=torch.int32)}


def tokens(size):
    return size["B"]


def flops(size):
    """Multiply-adds of the convolutions and of the last layer, times two: one product forward, two backward, one for the image,
    which has no gradient. Padding is not among them."""
    total, shapes = 0, {}
    with torch.device("meta"):
        model = Model(size).to("meta")

        def note(module, given, made):
            shapes[module] = (given[0].shape, made.shape)
        for module in model.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                module.register_forward_hook(note)
        model(**{name: value.to("meta") for name, value in inputs(size, None).items()})
    for module, (given, made) in shapes.items():
        if isinstance(module, nn.Linear):
            total += 3 * made.numel() * module.in_features
            continue
        places = 1
        for before, after, edge, step, border in zip(given[2:], made[2:], module.kernel_size, module.stride, module.padding):
            places *= sum(0 <= step * at + k - border < before for at in range(after) for k in range(edge))
        total += (2 if module is model.conv1 else 3) * size["B"] * module.in_channels * module.out_channels * places
    return 2 * total
