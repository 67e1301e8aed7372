# Rules of the lit suite; the generated lit.site.cfg.py of the build folder loads this file.
import glob
import os
import platform
import shutil
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
# of both suites: driver.compiled
config.environment["TENON_TEST_ARTIFACTS"] = os.path.join(config.test_exec_root, "cache", "artifacts")
config.substitutions += [("%source", config.tenon_source), ("%build", config.tenon_build), ("%parse", "tenon-parse-test"),
                         ("%python", sys.executable)]
sys.path.insert(0, os.path.join(config.test_source_root, "support"))
import tiers  # noqa: E402

# The second suite, of the build folder's test-second-tier/: numerics/ and e2e/ again with the narrower vector code, where the
# machine has both. Left out is what compares the tiers itself, or runs all of itself on each, or names those that it runs ..
EACH_TIER_INSIDE = ["goldens", "peers", "random", "artifact.test", "bf16.test", "compile-time.test", "ending.test", "f16.test",
                    "mixed-models.test", "op-gradients.test", "optimizer-storage.test", "optimizers.test", "policy.test",
                    "rounds.test", "threads.test", "tiers.test", "tiles.test", "whole-gradient.test"]
# .. and what is not about the code of a tier: data, what commands say and keep, forms of a program (what is saved, slices, walks,
# searches, last layers, types of parameters), of which machines without AVX-512 run all with the narrower code. Nor whole models
# whose kernels lowering/cpu/ compares on all tiers to the bit: fused attention, of which each test has a case for the narrower
# tier; who sees whom, since threads.test and tiers.test show the bits of outputs to be the same.
NOT_OF_A_TIER = ["allocation.test", "batch.test", "beam.test", "blocks.test", "caller.test", "carries.test", "causal.test",
                 "copying.test", "depth.test", "empty.test", "fused", "fused-attention.test", "halves.test", "language",
                 "last-layer-behind.test", "last-layer-places.test", "last-layer-values.test", "last-layer.test",
                 "last-place.test", "loop-history.test", "loop-parts.test", "loop-states.test", "loss-scale.test",
                 "masked-search.test", "masked-task.test", "mixed-commands.test", "newcomer.test", "open-sizes.test",
                 "own-data-mistakes.test", "own-data-weights.test", "own-data.test", "prepared.test", "quickstart.test",
                 "recipes.test", "recurrences.test", "round-count.test", "round-maps.test", "scan-states.test",
                 "shared-states.test", "short-parameters.test", "sliced-models.test", "slices.test",
                 "split-parameters.test", "stack-states.test", "step.test", "symbols.test", "targets.test",
                 "typed-parameters.test", "visibility.test", "walk.test", "walks.test", "wide-parameters.test", "wide.test"]
forced = os.environ.get("TENON_TEST_TIER")
if getattr(config, "tenon_second_tier", False):
    config.name = "Tenon x86-64-v3"
    config.test_exec_root = os.path.join(config.tenon_build, "test-second-tier")
    config.excludes += EACH_TIER_INSIDE + NOT_OF_A_TIER
    config.excludes += [name for name in os.listdir(config.test_source_root) if name not in ("numerics", "e2e")]
    config.unsupported = bool(forced) or tiers.other() == tiers.best()
    forced = forced if config.unsupported else tiers.other()

# Found among those of the machine, also where a tier is forced: tests of several tiers name them.
config.available_features |= {name for name, tier in (("avx2", "x86-64-v3"), ("avx512", "x86-64-v4"))
                              if tiers.NEEDS[tier] <= tiers.features()}
config.available_features |= {name for name, tier in (("avx512bf16", "x86-64-v4-bf16"), ("amx", "x86-64-v4-amx"))
                              if tiers.NEEDS["x86-64-v4"] | tiers.ONLY_OF_BF16[tier] <= tiers.features()}
if platform.machine() == "x86_64" and platform.system() == "Linux":
    config.available_features.add("gpu-emu") # gpu-emu/ has context switches and addresses of its own
config.available_features |= {"two-tiers"} if tiers.other(forced) != tiers.best(forced) else set()
# NVIDIA's assembler, for kernels of a GPU.
ptxas = shutil.which("ptxas") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/ptxas"))), None)
config.available_features |= {"ptxas"} if ptxas else set()
cuda_header = next(iter(sorted(glob.glob("/usr/local/cuda*/include/cuda.h"))), None)
config.available_features |= {"cuda-header"} if cuda_header else set()
config.substitutions += [("%ptxas", ptxas or "ptxas"), ("%cuda_header", cuda_header or "cuda.h")]
config.substitutions += [("%best_tier", tiers.best(forced)), ("%other_tier", tiers.other(forced))]
# Specifications are compiled for the tier that the test runs, also for training: for all tiers it takes three times as long. What
# is about the others names them, or compiles with `tenon compile`.
config.environment["TENON_TIER"] = tiers.best(forced) if forced else "best"
if forced:
    config.environment["TENON_TEST_TIER"] = tiers.best(forced)
# A test that hangs fails; the longest takes some three minutes on two busy cores.
lit_config.maxIndividualTestTime = 1200
# Features that stand; tests of others are counted as not run. Grows by hand, so that what once worked cannot drop out unseen.
#   tenon-driver: the driver works on compiled models   tenon-run: it compiles and runs models (run, eval, grad)
#   tenon-train: train, generate, inspect
#   tenon-walk: generation over `out step(T)`
config.available_features |= {"tenon-driver", "tenon-run", "tenon-train", "tenon-walk"}
