// Kernels of the GPU and the sequence of launches that an entry in the schedule form becomes. Generators (one per kernel op)
// state what a kernel reads and writes, how many blocks of how many threads it takes, and emit the work of a thread; addresses,
// arguments, loops and copies are handled here. An entry is code of the host: it computes sizes and addresses and launches.
#pragma once
#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "lowering/code/ScheduleEmitter.h"
#include "lowering/gpu/Chip.h"
#include "lowering/target/Choice.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <functional>
#include <optional>
#include <string>

namespace tenon::gpu {

using mlir::ImplicitLocOpBuilder;
using mlir::Type;
using mlir::Value;

class LaunchSequence;

/// Address spaces of a GPU's memory.
constexpr unsigned kGlobal = 1, kShared = 3;

/// What the code of an entry, on the host, can see; also addresses of the device, which the host does not read.
class EntryCode : public ContextCode {
public:
  EntryCode(LaunchSequence &sequence, ImplicitLocOpBuilder &builder, Value context);
  /// A function of libm: f64 to f64.
  Value callLibrary(llvm::StringRef name, mlir::ValueRange operands);

private:
  friend class LaunchSequence;
  Value loopIndex(mlir::BlockArgument argument) override { return loopIndices.lookup(argument); }
  LaunchSequence &sequence;
  llvm::DenseMap<Value, Value> loopIndices; // block argument -> i64
};

/// What the code of one thread can see. All integers are i64, addresses are those of global memory.
class KernelCode {
public:
  ImplicitLocOpBuilder &builder;
  const int64_t threads; // of a block
  Value size(mlir::AffineExpr expression) { return evaluateSize(builder, expression, dims); }
  /// An index value of the kernel form that is a symbolic dim or the index of a loop; null for anything else.
  Value scalar(Value index);
  /// Address of element 0 of a tensor in `reads` or `writes` of the launch.
  Value pointer(Value tensor);
  /// Launch::places[i], temporaries[i], numbers[i].
  Value place(unsigned index) { return places[index]; }
  Value temporary(unsigned index) { return temporaries[index]; }
  Value number(unsigned index) { return numbers[index]; }
  /// Address of Launch::maps[i], a parameter of the kernel.
  Value map(unsigned index) { return maps[index]; }
  /// Number of the thread in its block, of the block, and of all blocks.
  Value thread() { return threadIndex; }
  Value block() { return blockIndex; }
  Value blocks() { return blockCount; }
  /// Waits for all threads of the block, which all get here.
  void barrier();
  /// Memory that the threads of a block share, `count` elements.
  Value shared(Type element, int64_t count);
  /// Launch::shared bytes of it, on a border of 1024; the same memory at each call. More than 48 KiB of a block must be such.
  Value dynamicShared();
  /// Calls `body` for the indices from `first` on in steps of `step`, below `count`.
  void strided(Value first, Value step, Value count, llvm::function_ref<void(Value)> body);
  /// For those of [0, count) that are this thread's among all threads of the launch, or of its block.
  void overGrid(Value count, llvm::function_ref<void(Value)> body);
  void overBlock(Value count, llvm::function_ref<void(Value)> body) {
    strided(thread(), constant(builder, threads), count, body);
  }
  void ifThen(Value condition, llvm::function_ref<void()> body);
  /// What the thread of the same warp has whose number differs in the bit that is set in `bit`.
  Value ofPartner(Value value, int64_t bit);
  /// Combines one value of each thread of the block in a fixed order; all threads get the result. With `groups`, a power of two
  /// up to 32, those whose numbers are equal modulo `groups` combine theirs. With `onlyFirst` the first `groups` threads get it,
  /// and others any value. One barrier; its memory is its own, and in a loop a barrier has to come before the next round of it.
  Value combineBlock(Reduction kind, Value value, int64_t groups = 1, bool onlyFirst = false);
  /// Several values of each thread, each for itself, behind one barrier.
  void combineBlock(Reduction kind, llvm::MutableArrayRef<Value> values, int64_t groups = 1, bool onlyFirst = false);
  /// A table of constants in global memory.
  Value table(llvm::StringRef stem, Type element, mlir::DenseElementsAttr values);
  const Chip &chip() const;
  /// The random numbers of this run: i64.
  Value seed, step;

private:
  friend class LaunchSequence;
  KernelCode(LaunchSequence &sequence, ImplicitLocOpBuilder &builder, int64_t threads)
      : builder(builder), threads(threads), sequence(sequence) {}
  LaunchSequence &sequence;
  Value threadIndex, blockIndex, blockCount;
  llvm::SmallVector<Value> dims, places, temporaries, numbers, maps;
  llvm::DenseMap<Value, Value> pointers, loopIndices;
};

/// A tensor in memory as the engine of tensor copies reads it (TnTensorMap): dims of the tensor that are neighbours may be one.
struct TensorMap {
  Value tensor;
  mlir::AffineExpr offset;                            // of its first element; in elements, as what follows
  llvm::SmallVector<mlir::AffineExpr> sizes, strides; // innermost first; the innermost stride is 1
  llvm::SmallVector<int64_t> box;
};

/// One kernel with its launch. Blocks, and threads of a block that no barrier orders, touch disjoint memory.
struct Launch {
  /// Memory beside that of tensors: bytes that the kernel touches, as far as they are known, and whether it writes some.
  struct Place {
    Buffer buffer;
    mlir::AffineExpr bytes = {};
    bool isWritten = true;
  };
  /// A scalar argument, computed by the host.
  struct Number {
    Type type;
    std::function<Value(EntryCode &)> value;
  };
  std::string name; // for symbols and reports: "nest", "gemm"
  mlir::Location location;
  llvm::SmallVector<Value> reads, writes; // tensors of the kernel form; duplicates are allowed
  llvm::SmallVector<Place> places;
  llvm::SmallVector<unsigned> temporaries; // numbers of LaunchSequence::temporary
  llvm::SmallVector<Number> numbers;
  std::function<Value(EntryCode &)> blocks; // null: one; where it gives 0 nothing is launched
  int64_t threads = 1;                      // a multiple of 32, or 1
  bool draws = false;                       // the kernel reads `seed` and `step`
  std::function<void(KernelCode &)> body;
  int64_t shared = 0;                        // bytes of KernelCode::dynamicShared
  int64_t registers = 0;                     // the most that a thread may have; 0: as the assembler finds best
  llvm::SmallVector<TensorMap> maps = {};    // of tensors that are among `reads`
  llvm::SmallVector<unsigned> onlyRead = {}; // those of `temporaries` that an earlier launch has written
};

/// A kernel as the runtime's table has it.
struct KernelName {
  std::string symbol, place; // place: of the specification, for messages
};

/// One entry: the host's function under construction and the kernels launched by it so far.
class LaunchSequence : public ScheduleEmitter {
public:
  LaunchSequence(mlir::ModuleOp host, mlir::ModuleOp device, std::vector<KernelName> &kernels, const ScheduledEntry &entry,
                 const ParameterTable &parameters, const Chip &chip);
  LaunchSequence(mlir::func::FuncOp entry, KernelNeeds &needs, const Chip &chip);

  /// Emits the whole entry as `symbol`: int32_t (const TnContext *). Errors are reported at the ops.
  mlir::LogicalResult emit(llvm::StringRef symbol);

  // For generators:
  void add(const Launch &launch);
  /// What is chosen for the op, one of these forms: fails where that is not legal, which is reported there.
  /// Each may have the number kApproximate, too, where the kernel may, and then has kBesideOne.
  mlir::FailureOr<Choice> choiceOf(mlir::Operation *op, llvm::ArrayRef<ChoiceForm> forms);
  const Chip &chip;

private:
  friend class EntryCode;
  friend class KernelCode;
  ContextCode &hostCode() override { return *entry; }
  mlir::LogicalResult emitKernels(mlir::Operation *op) override;
  void emitCopy(CopyOp copy) override;
  void emitSumSlices(SumSlicesOp sum, const Buffer &gradient, int64_t slices) override;
  mlir::LogicalResult startRound(Value index) override;
  Value goesOn(SkipOp skip) override;
  struct Arguments;
  Arguments argumentsOf(const Launch &launch);
  Launch unlessSkipped(Launch launch);
  int64_t emitKernel(const Launch &launch, const Arguments &arguments);
  Value emitSpans(const Launch &launch, const Arguments &arguments);
  void emitLaunch(const Launch &launch, const Arguments &arguments, int64_t number);
  mlir::ModuleOp host, device;
  std::vector<KernelName> *kernels = nullptr;
  EntryCode *entry = nullptr;
  llvm::SmallVector<std::pair<LoopOp, Value>> skips; // where the truth value holds, the rest of the loop's round does nothing
  Value argumentValues, argumentPointers, spans;     // of launches: i64 [n], ptr [n], i64 [n]
  mlir::arith::ConstantOp argumentCount;             // n
  int64_t mostArguments = 1;
};

/// Blocks of `threads` threads for `count` elements, one each, as far as a launch has room for so many.
Value blocksFor(EntryCode &code, Value count, int64_t threads);
/// 256, or what a smaller number of elements, where it is known, takes.
int64_t threadsFor(mlir::AffineExpr count);

/// Why there is no kernel for a fused attention op, or nothing.
std::optional<std::string> refusesAttention(AttentionOp op);
std::optional<std::string> refusesAttention(AttentionGradOp op);
/// What is chosen for an op (tenon.chosen), before memory is planned.
mlir::DictionaryAttr chooseNest(NestOp op);
mlir::DictionaryAttr chooseGemm(GemmOp op, const Chip &chip);
mlir::DictionaryAttr chooseAttention(AttentionOp op, const Chip &chip);
mlir::DictionaryAttr chooseAttentionGradient(AttentionGradOp op);
/// The kernels of one op; errors are reported there.
mlir::LogicalResult generateNest(NestOp op, LaunchSequence &sequence);
mlir::LogicalResult generateGemm(GemmOp op, LaunchSequence &sequence);
mlir::LogicalResult generateScatterAdd(ScatterAddOp op, LaunchSequence &sequence);
mlir::LogicalResult generateAttention(AttentionOp op, LaunchSequence &sequence);
mlir::LogicalResult generateAttentionGradient(AttentionGradOp op, LaunchSequence &sequence);
mlir::LogicalResult generateAppendState(AppendStateOp op, LaunchSequence &sequence);
mlir::LogicalResult generateOptimize(OptimizeOp op, LaunchSequence &sequence);
/// `gradient`: its place; `slices`: of the entry.
void generateSumSlices(SumSlicesOp op, const Buffer &gradient, int64_t slices, LaunchSequence &sequence);

} // namespace tenon::gpu
