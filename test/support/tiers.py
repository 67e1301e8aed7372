"""The code tiers that the tests run on.

Every test takes the widest unless it names another. Where the machine has both vector tiers, `tools/check` runs numerics/ and
e2e/ a second time with the narrower one forced (the suite `Tenon x86-64-v3`). TENON_TEST_TIER=TIER forces one by hand:
`TENON_TEST_TIER=portable tools/check --filter numerics`.
"""
import os

# The widest first, and what it needs of the CPU.
NEEDS = {"x86-64-v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, "x86-64-v3": {"avx2", "fma"}, "portable": set()}
# What a program that contracts bf16 may have besides, the widest first, and what it needs beyond x86-64-v4.
ONLY_OF_BF16 = {"x86-64-v4-amx": {"avx512_bf16", "amx_tile", "amx_bf16"}, "x86-64-v4-bf16": {"avx512_bf16"}}


def features():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((set(line.split()) for line in file if line.startswith("flags")), set())


def runnable(forced=None):
    """Tiers of this machine, the widest first; the forced one alone, by default that of TENON_TEST_TIER."""
    have = features()
    found = [tier for tier, needs in NEEDS.items() if needs <= have]
    forced = forced or os.environ.get("TENON_TEST_TIER")
    if forced and forced not in found:
        raise SystemExit(f"TENON_TEST_TIER is {forced}; this machine can run {', '.join(found)}")
    return [forced] if forced else found


def of_bf16(forced=None):
    """Those of a program that contracts bf16, which may have more."""
    found, have = runnable(forced), features()
    return [tier for tier, needs in ONLY_OF_BF16.items() if found[0] == "x86-64-v4" and needs <= have] + found


def best(forced=None):
    return runnable(forced)[0]


def other(forced=None):
    """The next narrower one with vector code; where there is none, the same."""
    tiers = runnable(forced)
    return [tier for tier in tiers if tier != "portable" or tier == tiers[0]][:2][-1]


def widest():
    """The widest of the machine, whatever is forced: for code that only serves as a reference."""
    have = features()
    return next(tier for tier, needs in NEEDS.items() if needs <= have)
