#!/usr/bin/env python3
"""Reads lit's JSON results and prints what failed, what was not run and why, the ten slowest tests, and `N passed, N failed` as
the last line.

Exit 0 iff nothing failed and at least one test passed. Only what the processor or the CUDA toolkit lacks excuses a test from
running: a test that requires any other feature which is absent has failed, be the feature misspelled or lost. Filtered tests do
not count. How long each test took stays in RESULTS.json (`elapsed`).

usage: count-tests.py RESULTS.json [EXIT-STATUS-OF-LIT]
"""
import collections
import json
import re
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
FILTERED = {"EXCLUDED", "SKIPPED"}
OF_THE_MACHINE = {"avx2", "avx512", "avx512bf16", "amx", "two-tiers", "gpu-emu", "ptxas", "cuda-header"}  # see lit.cfg.py
# lit's words for a suite that does not apply: the machine has one vector tier, or one was forced
SECOND_SUITE = "Test is unsupported"


def lost(test):
    """Features that the test requires and that are absent, although no machine decides about them; None if it may stand aside."""
    text = test.get("output", "")
    if SECOND_SUITE in text:
        return None
    features = re.search(r"unavailable features: (.*)", text)
    missing = {name.strip() for name in features[1].split(",")} - OF_THE_MACHINE if features else {text.strip() or "no reason"}
    return sorted(missing) or None


def main(argv):
    if len(argv) not in (2, 3):
        sys.exit(__doc__)
    with open(argv[1], encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    run = [test for test in tests if test["code"] not in FILTERED]
    aside = [test for test in run if test["code"] == "UNSUPPORTED" and not lost(test)]
    passed = sum(test["code"] in PASSED for test in run)
    failed = len(run) - passed - len(aside)  # FAIL, XPASS, TIMEOUT, UNRESOLVED, lost features, and whatever lit may add
    for test in run:
        if test["code"] == "UNSUPPORTED" and lost(test):
            print(f"ABSENT: {test['name']}: requires {', '.join(lost(test))}")
        elif test["code"] not in PASSED | {"UNSUPPORTED"}:
            print(f"{test['code']}: {test['name']}")
    slowest = sorted((test for test in run if test.get("elapsed")), key=lambda test: -test["elapsed"])[:10]
    if len(run) > 10:
        print("the slowest: " + ", ".join(f"{test['name'].replace('Tenon :: ', '')} {test['elapsed']:.0f} s" for test in slowest))
    for reason, number in collections.Counter(test.get("output", "").strip() or "no reason" for test in aside).items():
        print(f"{number} not run here: {reason}")
    if failed == 0 and len(argv) == 3 and argv[2] != "0":
        print(f"lit ended with status {argv[2]} although no test failed")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main(sys.argv))
