"""Weights, inputs and the two numbers that stand for a tensor: formulas that the maker of the values and the test share."""
import math

AMPLITUDE = 0.08


def phase(name):
    """Of a public name."""
    return sum((place + 1) ** 2 * byte for place, byte in enumerate(name.encode())) % 9973


def weights(name, size, one):
    """Element k: 0.08 sin(0.37 k + 0.61 (k k mod 1009) + phase), and 1 more for the scale of a norm. The square makes matrices of
    full rank."""
    start = phase(name)
    return [AMPLITUDE * math.sin(0.37 * k + 0.61 * (k * k % 1009) + start) + one for k in range(size)]


def probe(name, values):
    """(sum of v[k] cos(0.7 k + phase), norm): the first notices exchanged elements and signs, the second is what a difference
    is measured by."""
    start = phase(name)
    return (math.fsum(v * math.cos(0.7 * k + start) for k, v in enumerate(values)), math.sqrt(math.fsum(v * v for v in values)))


def numbers(salt, step, high, *shape):
    """Whole numbers from 0 to below `high`, as nested lists; others for each step and salt."""
    def at(k):
        return (37 * k + (13 + salt) * k * k + 101 * step + 59 * salt) % 1009 % high

    def nested(first, sizes):
        if not sizes:
            return at(first)
        inner = math.prod(sizes[1:])
        return [nested(first + k * inner, sizes[1:]) for k in range(sizes[0])]
    return nested(step, shape)


def reals(salt, step, *shape):
    """Between -1 and 1."""
    def scaled(value):
        return [scaled(x) for x in value] if isinstance(value, list) else value / 500 - 1
    return scaled(numbers(salt, step, 1001, *shape))


def places(salt, step, lengths, count):
    """`count` different places below each length, ascending."""
    return [sorted({(salt + step + k * max(1, length // count)) % length for k in range(count)}) for length in lengths]
