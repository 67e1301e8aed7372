#!/usr/bin/env python3
"""Reads lit's JSON results and prints `N passed, N failed` as the last line. Exit 0 iff nothing failed and at least one test passed.

usage: count-tests.py RESULTS.json [EXIT-STATUS-OF-LIT]
"""
import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
NOT_RUN = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def main(argv):
    if len(argv) not in (2, 3):
        sys.exit(__doc__)
    with open(argv[1], encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    codes = collections.Counter(test["code"] for test in tests)
    passed = sum(codes[code] for code in PASSED)
    not_run = sum(codes[code] for code in NOT_RUN)
    failed = len(tests) - passed - not_run  # FAIL, XPASS, TIMEOUT, UNRESOLVED, and whatever lit may add
    for test in tests:
        if test["code"] not in PASSED | NOT_RUN:
            print(f"{test['code']}: {test['name']}")
    if not_run:
        print(f"{not_run} not run here (a feature they require is absent)")
    if failed == 0 and len(argv) == 3 and argv[2] != "0":
        print(f"lit ended with status {argv[2]} although no test failed")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main(sys.argv))
