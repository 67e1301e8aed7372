// One compiled function on random numbers: what the reference makes of them, and what the generated code does.
#pragma once
#include "runtime/include/tenon/artifact.h"
#include "test/lowering/cpu/Reference.h"

namespace tenon::test {

/// What runs kernels that are not the host's: its memory, which the host can read, and launches (TnContext).
struct KernelDevice {
  void *(*allocate)(int64_t bytes);
  void (*release)(void *memory);
  void (*launch)(const TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared,
                 void *const *arguments, int32_t count, const int64_t *spans);
};

struct RunOptions {
  uint64_t seed = 0, step = 0;
  double inputScale = 1;                // inputs are in [-2, 2) times this
  bool halves = false;                  // gradients and update one after the other: the first must not change parameters
  unsigned timing = 0;                  // also run this many times and print the best time
  const KernelDevice *device = nullptr; // null: the host
};

/// By name: "output 0", "state 1", "gradient w". Bytes of the element type; of the reference, of f64.
struct Results {
  std::map<std::string, std::pair<mlir::Type, std::vector<char>>> named;
};

/// Numbers of `memory`, `count` elements of the type, and back.
void store(mlir::Type element, char *memory, const Numbers &values);
Numbers load(mlir::Type element, const char *memory, size_t count);

/// Of the difference to max(1, |x|); with `ulps` > 0 the units in the last place of f32 instead.
struct Allowed {
  double tolerance, ulps;
};
/// True when they agree; prints where they do not.
bool compare(const std::string &what, const Results &got, const Results &expected, Allowed allowed);

class Run {
public:
  Run(mlir::func::FuncOp function, const TnEntry &entry, std::vector<int64_t> dims, const RunOptions &options);
  /// One per tensor among the arguments.
  const std::vector<Numbers> &inputs() const { return start.inputs; }
  void useInputs(std::vector<Numbers> inputs) { start.inputs = machine.inputs = std::move(inputs); }
  /// `corrupt` is added to element 0 of every result.
  Results reference(double corrupt);
  /// One variant of the entry's code; the tiles of a kernel from the last to the first if `reverseTiles`. Ends the process if
  /// memory outside of buffers was written.
  Results execute(const TnVariant &variant, bool reverseTiles);

private:
  struct Buffers;
  void fill(Buffers &buffers, llvm::ArrayRef<int64_t> offsets);
  Results collect(const Buffers &buffers, llvm::ArrayRef<int64_t> offsets);
  void checkGuards(const Buffers &buffers);
  void measure(const TnContext &context, const TnVariant &variant);
  [[noreturn]] void die(const std::string &what);
  /// Calls `body(parameter, element type, index in the stack, elements)` for each element of each stack.
  void forParameters(llvm::function_ref<void(ParameterOp, mlir::Type, int64_t, int64_t)> body);

  mlir::func::FuncOp function;
  const TnEntry &entry;
  std::vector<int64_t> dims;
  RunOptions options;
  Machine machine, start;                                                   // of the reference: after it ran, and before
  std::map<int64_t, std::pair<mlir::RankedTensorType, int64_t>> stateTypes; // with the copies of a stack
  std::map<int64_t, OutputOp> outputs;
  int64_t arenaBytes = 0; // of each of the parameter arenas
};

} // namespace tenon::test
