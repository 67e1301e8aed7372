# Rules of the lit suite; the generated lit.site.cfg.py of the build folder loads this file.
import os
import sys
import lit.formats

config.name = "Tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tn", ".mlir", ".test"]
config.excludes = ["Inputs", "specs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tenon_build, "test")
config.environment["PATH"] = os.pathsep.join([os.path.join(config.tenon_build, "bin"), config.llvm_tools, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["TENON_CACHE"] = os.path.join(config.test_exec_root, "cache") # not the user's
config.substitutions += [("%source", config.tenon_source), ("%build", config.tenon_build), ("%parse", "tenon-parse-test"),
                         ("%python", sys.executable)]
sys.path.insert(0, os.path.join(config.test_source_root, "support"))
import tiers  # noqa: E402

# Found among those of the machine, also where TENON_TEST_TIER forces one: tests of several tiers name them.
config.available_features |= {name for name, tier in (("avx2", "x86-64-v3"), ("avx512", "x86-64-v4")) if tiers.NEEDS[tier] <= tiers.features()}
config.available_features |= {"two-tiers"} if tiers.other() != tiers.best() else set()
config.substitutions += [("%best_tier", tiers.best()), ("%other_tier", tiers.other())]
if os.environ.get("TENON_TEST_TIER"):
    config.environment["TENON_TEST_TIER"] = config.environment["TENON_TIER"] = tiers.best()
# Features that stand; tests of others are counted as not run. Grows by hand, so that what once worked cannot drop out unseen.
#   tenon-driver: the driver works on compiled models   tenon-run: it compiles and runs models (run, eval, grad)   tenon-train: train, generate, inspect
#   tenon-walk: generation over `out step(T)`
config.available_features |= {"tenon-driver", "tenon-run", "tenon-train", "tenon-walk"}
