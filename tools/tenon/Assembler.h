// NVIDIA's assembler, where this machine has one: what it says of the kernels of an artifact for a GPU.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tenon::driver {

/// What a kernel takes on a chip: registers of a thread, bytes of shared memory of a block, bytes that a thread stores and loads
/// again since it has too few registers.
struct KernelResources {
  int64_t registers = 0, shared = 0, spillStores = 0, spillLoads = 0;
};

/// The path of `ptxas`, from PATH, CUDA_HOME or /usr/local/cuda; empty if there is none.
std::string findAssembler();

/// Of all kernels of a text of PTX, by name, for a chip ("sm_90").
runtime::Expected<std::map<std::string, KernelResources, std::less<>>> assemble(const std::string &assembler,
                                                                                std::string_view ptx, const std::string &chip);

} // namespace tenon::driver
