"""Makes table.txt: of every parameter of a freshly made model of transformers its number of elements, mean, deviation, and its
largest distance from the mean. Needs torch and transformers 4.40.2; no test runs it.

    make.py > table.txt
"""
import torch
import transformers
from transformers.models.deprecated import transfo_xl

from models import MODELS

print(f"# transformers {transformers.__version__}: elements, mean, deviation, largest distance from the mean")
for name, (_, _, model, configuration, settings, _) in MODELS.items():
    torch.manual_seed(0)
    home = transfo_xl if model.startswith("TransfoXL") else transformers
    made = getattr(home, model)(getattr(home, configuration)(**settings))
    print(f"\n{name}")
    for parameter, value in made.named_parameters():
        value = value.detach().double().flatten()
        mean, deviation = float(value.mean()), float(value.std(unbiased=False))
        print(f"{parameter} {value.numel()} {mean:.4g} {deviation:.4g} {float((value - mean).abs().max()):.4g}")
