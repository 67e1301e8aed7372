"""The tier that the runtime takes on this processor, against the one that the suite's features say: a feature that is not found
turns tests off.

processor.py SPEC FOLDER          trains SPEC for a step with all tiers compiled and reads which one is run
processor.py SPEC FOLDER control  with a list of features that could not be read, which must be seen
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tiers  # noqa: E402


def main():
    spec, folder = sys.argv[1:3]
    if sys.argv[3:] == ["control"]:
        tiers.features = set
    environment = {key: value for key, value in os.environ.items() if key not in ("TENON_TIER", "TENON_TEST_TIER")}
    os.environ.pop("TENON_TEST_TIER", None)
    done = subprocess.run(["tenon", "train", spec, "--text", spec, "--out", os.path.join(folder, "run"), "--held-out", "0",
                           "--fresh", "--steps", "1"], env=environment,
                          capture_output=True, text=True, check=False)
    found = re.search(r"^tier ([^ ,]+),", done.stderr, re.MULTILINE)
    if done.returncode or not found:
        sys.exit(f"WRONG: no tier is said\n{done.stderr}")
    if found[1] != tiers.best():
        sys.exit(f"WRONG: the runtime takes {found[1]}, the suite has found {tiers.best()}")
    print("runtime and suite agree:", found[1])


if __name__ == "__main__":
    main()
