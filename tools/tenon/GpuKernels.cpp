#include "tools/tenon/GpuKernels.h"
#include "runtime/base/Json.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cctype>
#include <charconv>

namespace tenon::driver {

using runtime::Artifact;
using runtime::EntryInfo;

namespace {

/// What the host's code of an entry launches, by the number of a kernel.
struct Launched {
  int64_t launches = 0, least = 0, most = 0;
  int64_t threads = 0, dynamicShared = 0;
};
using LaunchTable = std::map<int32_t, Launched>;

void note(const TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared, void *const *, int32_t,
          const int64_t *) {
  Launched &known = (*static_cast<LaunchTable *>(context->launcher))[kernel];
  known.least = known.launches == 0 ? blocks : std::min(known.least, blocks);
  known.most = std::max(known.most, blocks);
  ++known.launches;
  known.threads = threads;
  known.dynamicShared = shared;
}

/// Runs the host's code of an entry with addresses that nobody has: it computes with them, and reads nothing there.
LaunchTable launchesOf(const EntryReport &report, const TnEntry &entry, TnRun run) {
  std::vector<int64_t> dims, offsets(static_cast<size_t>(entry.offset_count) + 1);
  for (const runtime::DimInfo &dim : report.entry->dims)
    dims.push_back(report.dims.at(dim.name));
  int64_t sizes[4] = {};
  entry.bind(dims.data(), offsets.data(), sizes);
  uintptr_t next = 1 << 20;
  auto make = [&](auto &places) {
    for (auto &place : places)
      place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(next += uintptr_t(1) << 40);
  };
  std::vector<char *> arenas(TN_ARENA_COUNT);
  std::vector<void *> inputs(static_cast<size_t>(entry.input_count)), outputs(static_cast<size_t>(entry.output_count));
  make(arenas), make(inputs), make(outputs);
  LaunchTable launches;
  TnContext context = {};
  context.dims = dims.data();
  context.arenas = arenas.data();
  context.inputs = inputs.data();
  context.outputs = outputs.data();
  context.offsets = offsets.data();
  context.total_steps = 1;
  context.keep_level = -1;
  context.launch = note;
  context.launcher = &launches;
  run(&context);
  return launches;
}

/// Bytes of shared memory by kernel, as the PTX declares them: variables are called KERNEL_shared, KERNEL_shared_0 ..
std::map<std::string, int64_t, std::less<>> sharedIn(std::string_view text) {
  std::map<std::string, int64_t, std::less<>> bytes;
  for (size_t at; (at = text.find(".shared ")) != std::string_view::npos;) {
    text.remove_prefix(at + 8);
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t type = line.find(" .b"), end = line.rfind("_shared");
    if (type == std::string_view::npos || end == std::string_view::npos)
      continue;
    int64_t bits = 8, count = 1;
    const char *rest = std::from_chars(line.data() + type + 3, line.data() + line.size(), bits).ptr + 1;
    if (const size_t bracket = line.find('['); bracket != std::string_view::npos) {
      count = 0; // []: the launch says it
      std::from_chars(line.data() + bracket + 1, line.data() + line.size(), count);
    }
    bytes[std::string(rest, line.data() + end)] += bits / 8 * count;
  }
  return bytes;
}

std::string symbolOf(std::string_view entry) {
  std::string symbol(entry);
  for (char &character : symbol)
    if (!isalnum(static_cast<unsigned char>(character)))
      character = '_';
  return symbol + "_";
}

/// Whether a kernel is this entry's, and not that of one whose name begins with this one's.
bool isOf(std::string_view kernel, const EntryInfo &entry, const std::vector<EntryInfo> &all) {
  const std::string own = symbolOf(entry.name);
  return kernel.starts_with(own) && std::none_of(all.begin(), all.end(), [&](const EntryInfo &other) {
           const std::string symbol = symbolOf(other.name);
           return symbol.size() > own.size() && kernel.starts_with(symbol);
         });
}

/// The op of each kernel: they follow each other as the ops do, as many as an op has, all with its place.
void findOps(const EntryReport &report, const TnModule &module, const std::vector<int32_t> &numbers,
             std::vector<GpuKernelLine> &lines) {
  size_t next = 0;
  for (const KernelLine &op : report.kernels) {
    const size_t count = std::max<size_t>(op.kernel->launches.size(), 1);
    auto isHere = [&](size_t at) {
      return at + count <= lines.size() && std::string_view(module.places[numbers[at]]).ends_with(op.kernel->place);
    };
    size_t at = next;
    while (at < lines.size() && !isHere(at))
      ++at;
    if (at == lines.size())
      continue;
    for (next = at; next < at + count; ++next) {
      lines[next].op = &op;
      lines[next].isFirst = next == at;
    }
  }
}

std::string blocksText(const GpuKernelLine &line) {
  return line.least == line.most ? std::to_string(line.most) : concat(line.least, " to ", line.most);
}

} // namespace

std::vector<GpuReport> reportGpu(const TnModule &module, const Artifact &artifact, const std::vector<EntryReport> &reports,
                                 const GpuAssembled &assembled) {
  const auto shared = sharedIn(module.text);
  std::vector<GpuReport> all;
  for (const EntryReport &report : reports) {
    const TnEntry &entry = artifact.entry(artifact.entryIndex(report.entry->name));
    const TnVariant *variant = runtime::variantOf(entry, module.variant);
    GpuReport &made = all.emplace_back();
    made.module = &module;
    const LaunchTable launches = variant ? launchesOf(report, entry, variant->run) : LaunchTable();
    std::vector<int32_t> numbers;
    for (int32_t number = 0; number < module.kernel_count; ++number) {
      if (!isOf(module.kernels[number], *report.entry, artifact.manifest().entries))
        continue;
      numbers.push_back(number);
      GpuKernelLine &line = made.kernels.emplace_back();
      line.name = module.kernels[number];
      if (auto found = shared.find(line.name); found != shared.end())
        line.shared = found->second;
      if (auto found = launches.find(number); found != launches.end()) {
        const Launched &launched = found->second;
        line.launches = launched.launches;
        line.least = launched.least;
        line.most = launched.most;
        line.threads = launched.threads;
        line.shared += launched.dynamicShared;
      }
      if (auto found = assembled.kernels.find(line.name); found != assembled.kernels.end())
        line.resources = found->second;
    }
    findOps(report, module, numbers, made.kernels);
  }
  return all;
}

void printGpu(const GpuReport &report, const GpuAssembled &assembled) {
  int64_t launches = 0;
  for (const GpuKernelLine &line : report.kernels)
    launches += line.launches;
  const std::string source = !assembled.assembler.empty() ? concat(" for ", assembled.chip, " by ", assembled.assembler)
                             : assembled.chip == "none"
                                 ? " were not asked for"
                                 : " are not known: there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda";
  show("  code for %s: %zu kernels, %lld launches; registers%s\n", report.module->variant, report.kernels.size(),
       static_cast<long long>(launches), source.c_str());
  show("    %-28s %8s %12s %7s %10s %9s %7s %10s %12s  %s\n", "kernel", "launches", "blocks", "threads", "shared", "registers",
       "spilled", "flops", "bytes", "of");
  for (const GpuKernelLine &line : report.kernels) {
    std::string registers = "?", spilled = "?", flops, bytes, of;
    if (line.resources) {
      registers = std::to_string(line.resources->registers);
      spilled = std::to_string(line.resources->spillStores);
    }
    if (line.op) {
      of = concat(line.op->kernel->kind, " ", line.op->kernel->place);
      if (line.isFirst) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", line.op->flops);
        flops = text;
        bytes = runtime::readableBytes(static_cast<uint64_t>(line.op->bytes));
      }
    }
    show("    %-28s %8lld %12s %7s %10s %9s %7s %10s %12s  %s\n", line.name, static_cast<long long>(line.launches),
         line.launches ? blocksText(line).c_str() : "", line.launches ? std::to_string(line.threads).c_str() : "",
         runtime::readableBytes(static_cast<uint64_t>(line.shared)).c_str(), registers.c_str(), spilled.c_str(), flops.c_str(),
         bytes.c_str(), of.c_str());
  }
}

std::string gpuJson(const GpuReport &report, const GpuAssembled &assembled) {
  using runtime::quoteJson;
  std::string kernels;
  for (const GpuKernelLine &line : report.kernels) {
    kernels +=
        concat(kernels.empty() ? "" : ", ", "{\"name\": ", quoteJson(line.name), ", \"launches\": ", line.launches,
               ", \"blocks\": [", line.least, ", ", line.most, "], \"threads\": ", line.threads, ", \"shared\": ", line.shared);
    if (line.op)
      kernels += concat(", \"op\": ", quoteJson(line.op->kernel->kind), ", \"place\": ", quoteJson(line.op->kernel->place));
    if (line.resources)
      kernels += concat(", \"registers\": ", line.resources->registers, ", \"spill_stores\": ", line.resources->spillStores,
                        ", \"spill_loads\": ", line.resources->spillLoads, ", \"assembled_shared\": ", line.resources->shared);
    kernels += "}";
  }
  return concat("{\"variant\": ", quoteJson(report.module->variant),
                ", \"chip\": ", assembled.assembler.empty() ? "null" : quoteJson(assembled.chip), ", \"kernels\": [", kernels,
                "]}");
}

std::string ptxOf(std::string_view text, const std::string &kernel) {
  const std::string entry = ".entry " + kernel + "(";
  const size_t name = text.find(entry);
  if (name == std::string_view::npos)
    return {};
  const size_t begin = text.rfind('\n', name) + 1, end = std::min(text.size(), text.find("\n}", name) + 3);
  std::string head;
  for (std::string_view word : {".version", ".target", ".address_size"})
    if (const size_t at = text.find(word); at != std::string_view::npos)
      head += concat(text.substr(at, text.find('\n', at) - at), "\n");
  return concat(head, "\n", text.substr(begin, end - begin));
}

} // namespace tenon::driver
