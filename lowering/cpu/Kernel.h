// Kernels and the sequence of kernel calls that an entry in the schedule form becomes. Generators (one per kernel op) state what
// a kernel reads and writes and emit the work of one tile; calls, addresses, depths and tasks are handled here.
#pragma once
#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "lowering/code/ScheduleEmitter.h"
#include "lowering/cpu/SharedBodies.h"
#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <optional>
#include <string>

namespace tenon::cpu {

using mlir::ImplicitLocOpBuilder;
using mlir::Type;
using mlir::Value;

class KernelSequence;

/// What the code of one generated function (an entry, or one tile of a kernel) can see. All integers are i64, addresses
/// !llvm.ptr.
class FunctionCode : public ContextCode {
public:
  FunctionCode(KernelSequence &sequence, ImplicitLocOpBuilder &builder, Value context);

  const Tier tier;
  Value tile;    // kernels only
  Value scratch; // kernels only: 64-byte aligned, Kernel::scratchBytes of this worker

  /// Address of element 0 of a tensor in `reads` or `writes` of the kernel, or (entry) of any tensor.
  Value pointer(Value tensor);
  /// Address of Kernel::places[i], Kernel::temporaries[i].
  Value place(unsigned index);
  Value temporary(unsigned index);
  KernelSequence &sequence;

private:
  friend class KernelSequence;
  /// From the call record behind the context.
  Value loopIndex(mlir::BlockArgument argument) override;
  llvm::DenseMap<Value, Value> pointers; // tensor -> argument
  llvm::SmallVector<Value> placePointers, temporaryPointers;
  bool isEntry = false;
};

/// A direction in which the tiles of a kernel are cut: points [0, size) in blocks.
struct CutSide {
  mlir::AffineExpr size;
  int64_t block = 0;       ///< points of all blocks but the last; 0: a rule that the code evaluates
  bool isInPoints = false; ///< it cuts each point of the op's parallel domain further
};

/// Several tiles of work; tiles write disjoint memory, in any order, on any thread.
struct Kernel {
  std::string name; // for symbols and reports: "nest", "gemm"
  mlir::Location location;
  llvm::SmallVector<Value> reads, writes;     // tensors of the kernel form; duplicates are allowed
  llvm::SmallVector<Buffer> places;           // further memory that is written or read, by place
  llvm::SmallVector<unsigned> temporaries;    // numbers of KernelSequence::temporary
  int64_t scratchBytes = 0;                   // per worker
  std::function<Value(FunctionCode &)> tiles; // emitted in the entry; null: one tile
  std::function<void(FunctionCode &)> body;   // emitted in the tile's function
  /// Of the one kernel of an op that shares out the points of its parallel domain: its tiles are the blocks of these sides, which
  /// have as many points together (Cut.h). Where all sizes are known, so must be the number of `tiles`.
  llvm::SmallVector<CutSide> cut = {};
};

/// One entry of one tier: the function under construction and the kernels called by it so far.
class KernelSequence : public ScheduleEmitter {
public:
  /// `bodies`: of all entries in `target`.
  KernelSequence(mlir::ModuleOp target, const ScheduledEntry &entry, const ParameterTable &parameters, Tier tier,
                 SharedBodies &bodies);
  KernelSequence(mlir::func::FuncOp entry, Tier tier, KernelNeeds &needs);

  /// Emits the whole entry as `symbol`: int32_t (const TnContext *). Errors are reported at the ops.
  mlir::LogicalResult emit(llvm::StringRef symbol);

  /// Adds the kernels of an op, and checks that they share out its parallel domain. Errors are reported at the op.
  mlir::LogicalResult generate(mlir::Operation *op);

  // For generators:
  void add(const Kernel &kernel);
  bool hasShortParameters() const { return bool(parameterType(source->getParentOfType<mlir::ModuleOp>())); }
  Tier tier() const { return targetTier; }
  mlir::ModuleOp module() const { return target; }
  /// An external function of libm, declared on first use: double name(double...).
  mlir::LLVM::LLVMFuncOp libraryFunction(llvm::StringRef name, unsigned arguments);
  /// A name that no other symbol of the target module has.
  std::string uniqueName(llvm::StringRef stem);

private:
  void emitWalkCheck();
  ContextCode &hostCode() override { return *entry; }
  mlir::LogicalResult emitKernels(mlir::Operation *op) override;
  void emitCopy(CopyOp copy) override;
  void emitSumSlices(SumSlicesOp sum, const Buffer &gradient, int64_t slices) override;
  mlir::LogicalResult startRound(Value index) override;
  Value goesOn(SkipOp skip) override;
  void checkRoom(const Kernel &kernel);
  void checkTiles(const Kernel &kernel, std::optional<int64_t> tiles);
  struct TileArguments;
  TileArguments argumentsOf(const Kernel &kernel);
  mlir::LLVM::LLVMFuncOp emitTileBody(const Kernel &kernel, llvm::StringRef name, const TileArguments &arguments,
                                      ImplicitLocOpBuilder &builder);
  mlir::LLVM::LLVMFuncOp emitTileFunction(const Kernel &kernel);
  llvm::StringMap<unsigned> lastSuffix; // of uniqueName, by stem
  mlir::ModuleOp target;
  Tier targetTier;
  SharedBodies *bodies = nullptr;
  std::string prefix;
  FunctionCode *entry = nullptr;
  Value call;                     // the entry's own copy of the context
  bool hasKernels = false;        // of `current`
  llvm::SmallVector<CutSide> cut; // of the one that shares out its domain
};

// Turn one op into kernels, and report their own errors: CpuKernelOpInterface of the dialect's ops (Generators.cpp).
mlir::LogicalResult generateNest(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateGemm(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateScatterAdd(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateRunningSum(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateTop(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateAttention(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateAttentionGrad(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateAppendState(mlir::Operation *op, KernelSequence &sequence);
mlir::LogicalResult generateOptimize(mlir::Operation *op, KernelSequence &sequence);
// What is chosen for an op in a tier, before memory is planned; null: nothing.
mlir::DictionaryAttr chooseNest(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseGemm(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseScatterAdd(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseRunningSum(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseTop(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseAttention(mlir::Operation *op, Tier tier);
mlir::DictionaryAttr chooseOptimize(mlir::Operation *op, Tier tier);
/// Adds up the gradients of slices: tenon.sum_slices.
void generateSumSlices(SumSlicesOp op, const Buffer &gradient, int64_t slices, KernelSequence &sequence);

} // namespace tenon::cpu
