"""What the peers' cases are: specification, sizes, inputs of each step, loss and optimizer. make.py and peers.py read it."""
import dataclasses
from typing import Callable

CASES = {}


@dataclasses.dataclass
class Case:
    spec: str                             # file of models/, or of Inputs/ here
    model: str
    names: str | None                     # the `names` table that the public names belong to; None: they are the model's own
    dims: dict                            # run-time sizes
    configs: dict                         # of the model
    loss: str                             # of the recipe
    inputs: Callable                      # step -> values by name, nested lists
    outputs: dict                         # entry -> names that are compared, at the first batch
    rate: float = 0.5
    adam: bool = False                    # else SGD with momentum 0.9
    rough: tuple = (1, 1)                 # in f32: how many times the tolerance gradients, and losses of later steps, may differ

    def optimizer(self):
        return f"adam(lr = {self.rate})" if self.adam else f"sgd(lr = {self.rate}, momentum = 0.9)"


def case(name, **fields):
    CASES[name] = Case(**fields)
