"""The code tiers that the tests run on.

TENON_TEST_TIER=TIER forces one for every test that does not name another itself: `TENON_TEST_TIER=x86-64-v3 tools/check --filter 'numerics|e2e'` tests
the AVX2 code on a machine with AVX-512. Without it every test takes the widest, and those with much to run share themselves out to both.
"""
import os

# The widest first, and what it needs of the CPU.
NEEDS = {"x86-64-v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}, "x86-64-v3": {"avx2", "fma"}, "portable": set()}


def features():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((set(line.split()) for line in file if line.startswith("flags")), set())


def runnable():
    """Tiers of this machine, the widest first; the forced one alone."""
    have = features()
    found = [tier for tier, needs in NEEDS.items() if needs <= have]
    forced = os.environ.get("TENON_TEST_TIER")
    if forced and forced not in found:
        raise SystemExit(f"TENON_TEST_TIER is {forced}; this machine can run {', '.join(found)}")
    return [forced] if forced else found


def best():
    return runnable()[0]


def other():
    """The next narrower one with vector code; where there is none, the same."""
    return [tier for tier in runnable() if tier != "portable" or tier == best()][:2][-1]
