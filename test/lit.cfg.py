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
with open("/proc/cpuinfo", encoding="utf-8") as cpus:
    flags = next((line.split() for line in cpus if line.startswith("flags")), [])
config.available_features |= {"avx2"} if {"avx2", "fma"} <= set(flags) else set()
config.available_features |= {"avx512"} if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags) else set()
# Features that stand; tests of others are counted as not run. Grows by hand, so that what once worked cannot drop out unseen.
#   tenon-driver: the driver works on compiled models   tenon-run: it compiles and runs models (run, eval, grad)   tenon-train: train, generate, inspect
#   tenon-walk: generation over `out step(T)`
config.available_features |= {"tenon-driver", "tenon-run", "tenon-train", "tenon-walk"}
