// Memory and kernels of an entry at given sizes, evaluated from the formulas of the manifest: for inspect and compile.
#pragma once
#include "tools/tenon/Command.h"

namespace tenon::driver {

struct MemoryLine {
  const char *name;
  std::string formula; // empty: a number
  uint64_t bytes;
};

struct KernelLine {
  const runtime::KernelInfo *kernel;
  double calls, flops, bytes, share;
  std::vector<int64_t> points; // of the parallel domain
};

struct EntryReport {
  const runtime::EntryInfo *entry;
  std::map<std::string, int64_t, std::less<>> dims; // all of the entry
  std::vector<MemoryLine> memory;
  uint64_t workspace = 0, memorySum = 0;
  std::optional<uint64_t> workspaceSavingAll; // of a recipe with `save = blocks`
  std::vector<KernelLine> kernels;
  double flops = 0, bytes = 0;
  const runtime::RooflineInfo *roofline = nullptr; // that the shares are for
  std::string lengths;                             // which sizes batches by length can have; empty: all have one
};

/// Sizes that are not bound are 64, or their bound if that is less; of batches by length those of the longest. Errors: a bound
/// outside the limits of its dim, sizes that are too large, and (a bug) formulas that disagree with the compiled code of
/// `artifact`, which may be null.
Expected<EntryReport> reportEntry(const runtime::Manifest &manifest, const runtime::EntryInfo &entry,
                                  const std::map<std::string, int64_t> &bind, const runtime::Artifact *artifact);
void printMemory(const EntryReport &report);
/// With what the target has chosen for a variant of its code.
void printKernels(const EntryReport &report, std::string_view variant);
/// `code`: of kernels for a GPU, an object for each variant.
std::string reportJson(const EntryReport &report, const std::string &code = {});

/// What `tenon compile` says about the artifact it has written; `manifest` is the path of NAME.json.
Status printCompiled(const std::string &manifest, bool json);

} // namespace tenon::driver
