#!/usr/bin/env python3
"""What runtime/cuda/Driver.h declares of the driver's interface, against NVIDIA's own header: functions by the names that the
library exports, each argument's size and whether it is an address, numbers, and the layout of the structure.

usage: declarations.py CUDA_H [--spoil NAME]    --spoil: with an argument of NAME left out, which must not compile
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HEADER = os.path.join(ROOT, "runtime", "cuda", "Driver.h")
NUMBERS = {"kSuccess": "CUDA_SUCCESS", "kOutOfMemory": "CUDA_ERROR_OUT_OF_MEMORY", "kNoDevice": "CUDA_ERROR_NO_DEVICE",
           "kPtxTooNew": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "kComputeMajor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
           "kComputeMinor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR", "kJitErrorLog": "CU_JIT_ERROR_LOG_BUFFER",
           "kJitErrorLogBytes": "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES", "kInputPtx": "CU_JIT_INPUT_PTX",
           "kEventWithoutTime": "CU_EVENT_DISABLE_TIMING", "kElements16": "CU_TENSOR_MAP_DATA_TYPE_UINT16",
           "kMostDynamicShared": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", "kSwizzle128": "CU_TENSOR_MAP_SWIZZLE_128B",
           "kPromote256": "CU_TENSOR_MAP_L2_PROMOTION_L2_256B"}
FIELDS = {"function": "func", "gridX": "gridDimX", "gridY": "gridDimY", "gridZ": "gridDimZ", "blockX": "blockDimX",
          "blockY": "blockDimY", "blockZ": "blockDimZ", "shared": "sharedMemBytes", "arguments": "kernelParams", "extra": "extra"}
START = """#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include DRIVER_H
#include <type_traits>
using tenon::runtime::cuda::Driver;
template <class A, class B> constexpr bool same = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class F, class G> struct Alike : std::false_type {};
template <class R, class... A, class S, class... B> requires (sizeof...(A) == sizeof...(B))
struct Alike<R (*)(A...), S (*)(B...)> : std::bool_constant<(same<R, S> && ... && same<A, B>)> {};
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cuda_h")
    parser.add_argument("--spoil")
    options = parser.parse_args()
    with open(HEADER, encoding="utf-8") as file:
        header = file.read()
    if options.spoil:
        header = re.sub(rf"(\(\*{options.spoil}\)\([^,)]*),[^,)]*", r"\1", header)
    driver = "spoilt.h" if options.spoil else os.path.abspath(HEADER)
    if options.spoil:
        with open(driver, "w", encoding="utf-8") as file:
            file.write(header)
    names = re.findall(r"Result \(\*(\w+)\)", header)
    lines = [f"static_assert(Alike<decltype(Driver::{name}), decltype(&::{name})>::value, \"{name}\");" for name in names]
    lines += [f"static_assert(int(tenon::runtime::cuda::{ours}) == int({theirs}));" for ours, theirs in NUMBERS.items()]
    lines += [f"static_assert(offsetof(tenon::runtime::cuda::KernelNode, {ours}) == offsetof(CUDA_KERNEL_NODE_PARAMS_v1, "
              f"{theirs}));" for ours, theirs in FIELDS.items()]
    lines += ["static_assert(sizeof(tenon::runtime::cuda::EncodedMap) == sizeof(CUtensorMap));",
              "static_assert(alignof(tenon::runtime::cuda::EncodedMap) == alignof(CUtensorMap));"]
    words = ["c++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-", "-I", ROOT, "-I", os.path.dirname(options.cuda_h),
             f'-DDRIVER_H="{os.path.abspath(driver)}"']
    done = subprocess.run(words, input=START + "\n".join(lines), capture_output=True, text=True)
    print(f"{len(names)} functions, {len(NUMBERS)} numbers, {len(FIELDS)} fields: "
          + ("as in cuda.h" if done.returncode == 0 else done.stderr[:2000]))
    sys.exit(done.returncode != 0)


if __name__ == "__main__":
    main()
