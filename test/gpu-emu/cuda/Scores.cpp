#include "Scores.h"
#include "../Memory.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <functional>

using namespace llvm;

namespace tenon::emu::cuda {
namespace {

/// Of a kernel, in which its survivors are tried again: those of further rounds of a loop have other arguments.
constexpr unsigned kMostLaunches = 3;

struct Memory {
  std::vector<std::pair<uint64_t, std::string>> buffers;
  bool operator==(const Memory &) const = default;
  static Memory now() {
    Memory memory;
    for (const Buffer &buffer : allBuffers())
      memory.buffers.emplace_back(buffer.begin, std::string(reinterpret_cast<const char *>(buffer.begin), buffer.bytes));
    return memory;
  }
  void restore() const {
    for (const auto &[begin, bytes] : buffers)
      memcpy(reinterpret_cast<void *>(begin), bytes.data(), bytes.size());
  }
};

/// Leaves nothing but this kernel and what it uses, which compiles in a fraction of the time.
void leaveAlone(Module &module, const std::string &kernel) {
  for (Function &function : make_early_inc_range(module))
    if (isKernel(function) && function.getName() != kernel)
      function.eraseFromParent();
  for (bool changed = true; changed;) {
    changed = false;
    for (Function &function : make_early_inc_range(module))
      if (function.use_empty() && !isKernel(function))
        function.eraseFromParent(), changed = true;
    for (GlobalVariable &global : make_early_inc_range(module.globals()))
      if (global.use_empty() && !global.getName().starts_with("llvm."))
        global.eraseFromParent(), changed = true;
  }
}

/// How a mutant is executed: the order of threads and copies, and whether one block does the work of all, as far as it goes on
/// with theirs.
struct Way {
  Order order;
  bool late, oneBlock;
};
constexpr Way kWays[] = {{Order::InOrder, true, false},
                         {Order::Reverse, true, false},
                         {Order::Random, false, false},
                         {Order::InOrder, true, true},
                         {Order::Reverse, false, true}};

class Trial {
public:
  Trial(const Program &program, const std::string &kernel, const LaunchShape &shape)
      : program(program), kernel(kernel), shape(shape), before(Memory::now()), mode(machine.mode), modeBefore(mode) {
    mode.faults = {};
    for (const Way &way : kWays)
      expected.push_back(run(way).second);
  }
  ~Trial() {
    before.restore();
    machine.mode = modeBefore;
  }
  /// Whether something is found where these calls are not there.
  bool finds(unsigned call, unsigned other) {
    mode.faults = {call, other};
    for (size_t i = 0; i < std::size(kWays); ++i)
      if (auto [isRight, memory] = run(kWays[i]); !isRight || !(memory == expected[i]))
        return true;
    return false;
  }
  /// Whether a thread comes to the call.
  bool reaches(unsigned call) {
    mode.faultsTrap = true;
    const bool found = finds(call, call);
    mode.faultsTrap = false;
    return found;
  }

private:
  std::pair<bool, Memory> run(const Way &way) {
    before.restore();
    machine.mode = mode;
    machine.mode.order = way.order;
    machine.mode.late = way.late;
    const Outcome outcome = launch(*program.find(kernel), way.oneBlock ? Dim3{1, 1, 1} : shape.grid, shape.block,
                                   shape.dynamicShared, shape.arguments);
    return {outcome.ok(), Memory::now()};
  }
  const Program &program;
  const std::string &kernel;
  const LaunchShape &shape;
  const Memory before;
  Mode mode;
  const Mode modeBefore;
  std::vector<Memory> expected; // by way
};

} // namespace

void Scores::prepare(MemoryBufferRef code, const std::string &kernel, Scored &scored) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(code, diagnostic, context);
  leaveAlone(*module, kernel);
  for (const std::string &text : listMutants(*module, kernel))
    scored.calls.push_back({text});
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(*module, stream);
  Mode mode = machine.mode;
  mode.mutant = kernel;
  mode.faults = {};
  auto loaded = Program::load(MemoryBufferRef(bytes, "kernel"), mode);
  if (!loaded)
    report_fatal_error("gpu-emu: mutants of " + Twine(kernel) + ": " + toString(loaded.takeError()));
  scored.program = std::move(*loaded);
}

void Scores::score(MemoryBufferRef code, const std::string &kernel, const LaunchShape &shape) {
  if (StringRef(kernel).find(machine.mode.mutants) == StringRef::npos)
    return;
  Scored &scored = all[kernel];
  auto isOpen = [](const Call &call) { return call.fate != Fate::Found; };
  if (scored.launches >= kMostLaunches || (scored.launches && none_of(scored.calls, isOpen)))
    return;
  if (scored.launches++ == 0)
    prepare(code, kernel, scored);
  Trial trial(*scored.program, kernel, shape);
  for (unsigned i = 0; i < scored.calls.size(); ++i)
    if (Call &call = scored.calls[i]; isOpen(call) && trial.finds(i, i))
      call.fate = Fate::Found;
    else if (call.fate == Fate::Unreached && trial.reaches(i))
      call.fate = Fate::Survives;
  for (unsigned i = 0; i < scored.calls.size(); ++i)
    for (unsigned j = 0; j < scored.calls.size() && scored.calls[i].fate == Fate::Survives; ++j)
      if (j != i && isOpen(scored.calls[j]) && trial.finds(i, j)) {
        scored.calls[i].fate = Fate::Twice;
        scored.calls[i].partner = j;
      }
}

void Scores::print() const {
  struct Row {
    unsigned kernels = 0, count[4] = {};
  };
  std::map<std::string, Row> rows;
  Row sum;
  for (const auto &[kernel, scored] : all)
    for (Row *row : {&rows[StringRef(kernel).rtrim("0123456789").rtrim('_').str()], &sum}) {
      ++row->kernels;
      for (const Call &call : scored.calls)
        ++row->count[int(call.fate)];
    }
  auto print = [](const std::string &name, const Row &row) {
    unsigned calls = 0;
    for (unsigned count : row.count)
      calls += count;
    fprintf(stderr, "gpu-emu: mutants of %s: %u kernels, %u of %u found, %u not reached, %u guarded twice, %u without effect\n",
            name.c_str(), row.kernels, row.count[int(Fate::Found)], calls, row.count[int(Fate::Unreached)],
            row.count[int(Fate::Twice)], row.count[int(Fate::Survives)]);
  };
  for (const auto &[name, row] : rows)
    print(name, row);
  print("all kernels", sum);
  for (const auto &[kernel, scored] : all)
    for (size_t i = 0; i < scored.calls.size(); ++i) {
      const Call &call = scored.calls[i];
      const std::string why = call.fate == Fate::Unreached ? "not reached"
                              : call.fate == Fate::Twice   ? "guarded twice, with call " + std::to_string(call.partner)
                                                           : "without effect";
      if (call.fate != Fate::Found)
        fprintf(stderr, "gpu-emu: survives: %s without call %zu of %zu, `%s`: %s\n", kernel.c_str(), i, scored.calls.size(),
                call.text.c_str(), why.c_str());
    }
}

} // namespace tenon::emu::cuda
