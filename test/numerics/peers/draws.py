"""Noise of `sample`, by `tenon.gumbel` and `tenon.random_bits` (build/docs/dialect.md): a draw is the largest sum of a
logit and its noise. Only the maker of values needs it: public modules then fill places with the tokens that Tenon draws."""
import math


def site(path):
    """FNV-1a of the place of a draw: `random6` is the seventh call in the text of the model (frontend/sema/session/Load.cpp)."""
    number = 2166136261
    for byte in path.encode():
        number = (number ^ byte) * 16777619 % 2**32
    return number


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al. 2011)."""
    (a, b, c, d), (first, second) = counter, key
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = right >> 32 ^ b ^ first, right % 2**32, left >> 32 ^ d ^ second, left % 2**32
        first, second = (first + 0x9E3779B9) % 2**32, (second + 0xBB67AE85) % 2**32
    return a, b, c, d


def noise(place, step, rows, width, seed=0):
    """-ln(-ln(u)) of each element of `rows` rows, which begin at multiples of 64 numbers."""
    def one(number):
        words = philox((16 * (number // 64) + number % 16, step, place, 0), (seed % 2**32, seed >> 32))
        return -math.log(-math.log(((words[number // 16 % 4] >> 9) + 0.5) / 2**23))
    return [[one(64 * row * -(-width // 64) + k) for k in range(width)] for row in range(rows)]
