// The kernels of an artifact for a GPU: which an entry launches, and in what shape. The host's code of the entry says that; no
// GPU is needed, and nothing is computed.
#pragma once
#include "tools/tenon/Assembler.h"
#include "tools/tenon/Report.h"
#include <set>

namespace tenon::driver {

struct GpuKernelLine {
  const char *name;                // in the PTX
  const KernelLine *op = nullptr;  // whose it is; null where that is not known
  bool isFirst = true;             // of its op
  int64_t launches = 0;            // of one run; 0: none at these sizes
  int64_t least = 0, most = 0;     // blocks
  int64_t threads = 0, shared = 0; // of a block; bytes
  std::optional<KernelResources> resources;
};

/// What NVIDIA's assembler said of a module, or why it did not.
struct GpuAssembled {
  std::string chip, assembler; // empty: there is none
  std::map<std::string, KernelResources, std::less<>> kernels;
};

struct GpuReport {
  const TnModule *module = nullptr;
  std::vector<GpuKernelLine> kernels; // of an entry, in their order
};

/// Those of each report's entry at its sizes, in the manifest's order of entries; `reports` must outlive them.
std::vector<GpuReport> reportGpu(const TnModule &module, const runtime::Artifact &artifact,
                                 const std::vector<EntryReport> &reports, const GpuAssembled &assembled);
void printGpu(const GpuReport &report, const GpuAssembled &assembled);
std::string gpuJson(const GpuReport &report, const GpuAssembled &assembled);

/// The text of one kernel behind the head of the whole one; empty if there is none of this name.
std::string ptxOf(std::string_view text, const std::string &kernel);

} // namespace tenon::driver
