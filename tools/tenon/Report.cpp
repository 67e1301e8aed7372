#include "tools/tenon/Report.h"
#include "runtime/artifact/Formula.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Json.h"
#include "runtime/context/Sizes.h"
#include "runtime/train/BatchSizes.h"
#include "tools/tenon/Say.h"
#include <cstdio>

namespace tenon::driver {

using runtime::EntryInfo;
using runtime::KernelInfo;
using runtime::Manifest;

namespace {

constexpr int64_t kNominalSize = 64;
constexpr size_t kMostShown = 240; // characters of a formula

std::string sizesText(const EntryReport &report) {
  std::string text;
  for (const auto &[name, size] : report.dims)
    text += concat(text.empty() ? "" : ", ", name, " = ", size);
  return text;
}

Status takeSizes(const EntryInfo &entry, const std::map<std::string, int64_t> &bind, EntryReport &report) {
  for (const runtime::DimInfo &dim : entry.dims) {
    auto bound = bind.find(dim.name);
    int64_t size = bound != bind.end() ? bound->second : dim.max >= 0 ? std::min(dim.max, kNominalSize) : kNominalSize;
    if (dim.max >= 0 && size > dim.max)
      return inputError("the dim ", dim.name, " is ", size, ", expected at most ", dim.max);
    if (entry.slices > 1 && dim.name == entry.sliceAxis) {
      if (bound == bind.end()) // the nominal size is nobody's wish
        size = std::max(size - size % entry.slices, entry.slices);
      if (size % entry.slices != 0)
        return inputError("the recipe cuts a batch in ", entry.slices, " slices, which do not divide ", dim.name, " = ", size);
      size /= entry.slices; // formulas are those of one slice
    }
    report.dims[dim.name] = size;
  }
  std::vector<int64_t> sizes;
  for (const runtime::DimInfo &dim : entry.dims)
    sizes.push_back(report.dims[dim.name]);
  for (const runtime::RequirementInfo &required : entry.requirements) { // of nominal sizes alone nobody has asked for anything
    auto isAsked = [&](const auto &named) {
      const int dim = entry.dimIndex(named.first);
      return dim >= 0 &&
             (required.left.dependsOn(static_cast<uint32_t>(dim)) || required.right.dependsOn(static_cast<uint32_t>(dim)));
    };
    if (std::any_of(bind.begin(), bind.end(), isAsked))
      if (Status status = runtime::checkRequired(required, entry, sizes); status.failed())
        return status;
  }
  return {};
}

Expected<uint64_t> bytesOf(const EntryReport &report, const char *what, const std::string &formula) {
  if (formula.empty())
    return uint64_t(0);
  auto value = runtime::evaluateFormula(formula, report.dims);
  if (!value.ok())
    return value.status();
  if (!*value || **value < 0)
    return inputError("the ", what, " of entry ", report.entry->name, " take more than 2^63 bytes at ", sizesText(report));
  return static_cast<uint64_t>(**value);
}

/// The code's own sizes, which `Context` allocates.
Status compareWithCode(const runtime::Artifact &artifact, const EntryReport &report, uint64_t states, uint64_t kept) {
  const TnEntry &code = artifact.entry(artifact.entryIndex(report.entry->name));
  std::vector<int64_t> dims, offsets(static_cast<size_t>(code.offset_count) + 1);
  for (const runtime::DimInfo &dim : report.entry->dims)
    dims.push_back(report.dims.at(dim.name));
  int64_t sizes[4] = {};
  code.bind(dims.data(), offsets.data(), sizes);
  if (static_cast<uint64_t>(sizes[1]) != report.workspace || static_cast<uint64_t>(sizes[0]) != states ||
      static_cast<uint64_t>(sizes[3]) != kept || sizes[2] != report.entry->memory.scratchPerWorker)
    return runtime::bugError("entry ", report.entry->name, ": the manifest says ", report.workspace, " bytes of workspace, ",
                             states, " of states and ", kept, " of kept ones, the code ", sizes[1], ", ", sizes[0], " and ",
                             sizes[3]);
  return {};
}

Status reportMemory(const Manifest &manifest, const runtime::Artifact *artifact, EntryReport &report) {
  const runtime::MemoryInfo &memory = report.entry->memory;
  if (memory.workspace.empty())
    return {};
  auto workspace = bytesOf(report, "temporaries", memory.workspace), saved = bytesOf(report, "saved values", memory.saved),
       states = bytesOf(report, "states", memory.states), kept = bytesOf(report, "kept states", memory.keptStates),
       inputs = bytesOf(report, "inputs", memory.inputs), outputs = bytesOf(report, "outputs", memory.outputs);
  for (const auto *bytes : {&workspace, &saved, &states, &kept, &inputs, &outputs})
    if (!bytes->ok())
      return bytes->status();
  report.workspace = *workspace;
  if (!memory.workspaceSavingAll.empty()) {
    auto all = bytesOf(report, "temporaries with save = all", memory.workspaceSavingAll);
    if (!all.ok())
      return all.status();
    report.workspaceSavingAll = *all;
  }
  if (artifact)
    if (Status status = compareWithCode(*artifact, report, *states, *kept); status.failed())
      return status;
  bool trains = report.entry->kind == EntryInfo::Kind::Train,
       differentiated = trains || report.entry->kind == EntryInfo::Kind::Grad;
  auto add = [&](const char *name, uint64_t bytes, const std::string &formula) {
    if (bytes > 0)
      report.memory.push_back({name, formula, bytes});
    report.memorySum = runtime::checkedAdd(report.memorySum, bytes).value_or(UINT64_MAX);
  };
  add("parameters", manifest.parameterBytesIn(manifest.split.value_or(manifest.parameterType)), "");
  if (manifest.split)
    add("their remainders", manifest.parameterBytesIn(*manifest.split), "");
  if (manifest.copies)
    add("their copies", manifest.parameterBytesIn(*manifest.copies), "");
  if (differentiated)
    add("gradients", manifest.parameterBytes, "");
  if (trains)
    add("optimizer moments", manifest.momentBytes(), "");
  if (trains && manifest.accumulate > 1)
    add("sums of gradients", manifest.parameterBytes, "");
  if (differentiated && report.entry->slices > 1)
    add("sums of slices", manifest.partialSumBytes(), "");
  add("saved values", *saved, memory.saved);
  add("temporaries", *workspace - *saved, *saved > 0 ? concat(memory.workspace, " - (", memory.saved, ")") : memory.workspace);
  add("states, old and new", *states * 2, concat("2*(", memory.states, ")"));
  add("kept states", *kept, memory.keptStates);
  add(report.entry->slices > 1 ? "inputs of a slice" : "inputs", *inputs, memory.inputs);
  add("outputs", *outputs, memory.outputs);
  add("scratch of a thread", static_cast<uint64_t>(memory.scratchPerWorker), "");
  return {};
}

Status reportKernels(EntryReport &report) {
  double seconds = 0;
  for (const KernelInfo &kernel : report.entry->kernels) {
    KernelLine line{&kernel, 0, 0, 0, 0, {}};
    for (const std::string &formula : kernel.domain) {
      auto size = runtime::evaluateFormula(formula, report.dims);
      if (!size.ok())
        return size.status();
      line.points.push_back(size->value_or(0));
    }
    for (auto [formula, value] :
         {std::pair(&kernel.calls, &line.calls), std::pair(&kernel.flops, &line.flops), std::pair(&kernel.bytes, &line.bytes)}) {
      auto number = runtime::evaluateFormula(*formula, report.dims);
      if (!number.ok())
        return number.status();
      if (!*number)
        return inputError("the work of entry ", report.entry->name, " is more than 2^63 at ", sizesText(report));
      *value = static_cast<double>(**number);
    }
    line.share =
        std::max(line.flops / double(report.roofline->flopsPerSecond), line.bytes / double(report.roofline->bytesPerSecond));
    seconds += line.share;
    report.flops += line.flops;
    report.bytes += line.bytes;
    report.kernels.push_back(line);
  }
  for (KernelLine &line : report.kernels)
    line.share = seconds > 0 ? line.share / seconds : 0;
  return {};
}

} // namespace

Expected<EntryReport> reportEntry(const Manifest &manifest, const EntryInfo &entry, const std::map<std::string, int64_t> &bind,
                                  const runtime::Artifact *artifact) {
  EntryReport report;
  report.entry = &entry;
  report.roofline = &manifest.roofline;
  const auto lengths = train::reportLengths(manifest, entry, bind);
  report.lengths = lengths ? lengths->text : "";
  Status status = takeSizes(entry, lengths ? lengths->sizes : bind, report);
  if (status.ok())
    status = reportMemory(manifest, artifact, report);
  if (status.ok())
    status = reportKernels(report);
  return status.ok() ? Expected<EntryReport>(std::move(report)) : status;
}

void printMemory(const EntryReport &report) {
  if (report.memory.empty())
    return;
  std::string sizes = sizesText(report);
  if (!report.lengths.empty())
    show("  %s\n", report.lengths.c_str());
  show("  memory%s%s\n", sizes.empty() ? "" : " at ", sizes.c_str());
  for (const MemoryLine &line : report.memory) {
    bool isNumber = line.formula.find_first_not_of("0123456789*+-() ") == std::string::npos;
    const bool isLong = line.formula.size() > kMostShown; // a largest of many, where kernels of many sizes follow another
    const std::string shown =
        isLong ? concat("(a formula of ", line.formula.size(), " characters: tenon inspect --json)") : line.formula;
    show("    %-20s %12s  %s\n", line.name, runtime::readableBytes(line.bytes).c_str(), isNumber ? "" : shown.c_str());
  }
  show("    %-20s %12s\n", "sum", runtime::readableBytes(report.memorySum).c_str());
  if (report.workspaceSavingAll)
    show("    save = blocks: saved values and temporaries are %s, with save = all %s\n",
         runtime::readableBytes(report.workspace).c_str(), runtime::readableBytes(*report.workspaceSavingAll).c_str());
}

/// " (3 launches: gradient_norm, step_scalars, update)" of a kernel that is more than one.
std::string launchesText(const KernelInfo &kernel) {
  std::string names;
  for (const std::string &name : kernel.launches)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "" : concat(kernel.name.empty() ? "" : " ", "(", kernel.launches.size(), " launches: ", names, ")");
}

/// "  over 256 x 768  strips rows 128, depth 768, panels 4": the points that are shared out, and how.
std::string choiceText(const KernelLine &line, std::string_view variant) {
  std::string points, text;
  for (int64_t size : line.points)
    points += concat(points.empty() ? "  over " : " x ", size);
  if (auto found = line.kernel->chosen.find(variant); found != line.kernel->chosen.end())
    for (const auto &[name, value] : found->second)
      text +=
          name == "form" ? concat("  ", value) : concat(text.find(' ', 2) == std::string::npos ? " " : ", ", name, " ", value);
  return points + text;
}

void printKernels(const EntryReport &report, std::string_view variant) {
  if (report.kernels.empty())
    return;
  show("  kernels: %.4g operations, at least %s moved; shares are an estimate for %s: %.0f GFLOP/s, %.0f GB/s\n", report.flops,
       runtime::readableBytes(static_cast<uint64_t>(report.bytes)).c_str(), report.roofline->machine.c_str(),
       double(report.roofline->flopsPerSecond) / 1e9, double(report.roofline->bytesPerSecond) / 1e9);
  show("    %6s %10s %12s %6s  %-15s %-18s %-18s %s\n", "share", "flops", "bytes", "calls", "kernel", "storage", "place",
       "works on");
  for (const KernelLine &line : report.kernels)
    show("    %5.1f%% %10.4g %12s %6.0f  %-15s %-18s %-18s %s\n", 100 * line.share, line.flops,
         runtime::readableBytes(static_cast<uint64_t>(line.bytes)).c_str(), line.calls, line.kernel->kind.c_str(),
         line.kernel->storage.c_str(), line.kernel->place.c_str(),
         concat(line.kernel->name, launchesText(*line.kernel), choiceText(line, variant)).c_str());
}

std::string reportJson(const EntryReport &report, const std::string &code) {
  using runtime::quoteJson;
  std::string dims, memory, kernels;
  auto add = [](std::string &list, const std::string &item) { list += (list.empty() ? "" : ", ") + item; };
  for (const auto &[name, size] : report.dims)
    add(dims, concat(quoteJson(name), ": ", size));
  for (const MemoryLine &line : report.memory)
    add(memory, concat(quoteJson(line.name), ": ", line.bytes));
  for (const KernelLine &line : report.kernels) {
    std::string launches;
    for (const std::string &name : line.kernel->launches)
      add(launches, quoteJson(name));
    if (!launches.empty())
      launches = concat("\"launches\": [", launches, "], ");
    if (!line.points.empty()) {
      std::string points;
      for (int64_t size : line.points)
        add(points, std::to_string(size));
      launches += concat("\"points\": [", points, "], ");
    }
    char numbers[128];
    snprintf(numbers, sizeof numbers, "\"calls\": %.0f, \"flops\": %.0f, \"bytes\": %.0f, \"share\": %.6f", line.calls,
             line.flops, line.bytes, line.share);
    add(kernels, concat("{\"kind\": ", quoteJson(line.kernel->kind), ", \"name\": ", quoteJson(line.kernel->name),
                        ", \"storage\": ", quoteJson(line.kernel->storage), ", \"place\": ", quoteJson(line.kernel->place), ", ",
                        launches, numbers, "}"));
  }
  char sums[96];
  snprintf(sums, sizeof sums, "\"flops\": %.0f, \"bytes\": %.0f", report.flops, report.bytes);
  return concat("{\"entry\": ", quoteJson(report.entry->name), ", \"dims\": {", dims, "}, ",
                report.lengths.empty() ? "" : concat("\"lengths\": ", quoteJson(report.lengths), ", "), "\"memory\": {", memory,
                "}, \"memory_sum\": ", report.memorySum, ", \"workspace\": ", report.workspace,
                report.workspaceSavingAll ? concat(", \"workspace_saving_all\": ", *report.workspaceSavingAll) : "", ", ", sums,
                ", \"kernels\": [", kernels, "]", code.empty() ? "" : concat(", \"code\": [", code, "]"), "}");
}

Status printCompiled(const std::string &path, bool json) {
  // Not the library: it may be for another machine.
  auto text = runtime::readWholeFile(path, 1 << 30);
  if (!text.ok())
    return text.status();
  auto parsed = runtime::parseManifest(*text);
  if (!parsed.ok())
    return parsed.status().in(path);
  const Manifest &manifest = *parsed;
  std::string entries;
  for (const EntryInfo &entry : manifest.entries) {
    auto report = reportEntry(manifest, entry, {}, nullptr);
    if (!report.ok())
      return report.status();
    if (json) {
      entries += (entries.empty() ? "" : ",\n ") + reportJson(*report);
      continue;
    }
    show("entry %s\n", entry.name.c_str());
    printMemory(*report);
  }
  if (json)
    show("{\"manifest\": %s, \"entries\": [%s]}\n", runtime::quoteJson(path).c_str(), entries.c_str());
  return {};
}

} // namespace tenon::driver
