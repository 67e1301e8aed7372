// Kernels and the sequence of kernel calls that an entry in the schedule form becomes. Generators (one per kernel op) state what
// a kernel reads and writes and emit the work of one tile; calls, addresses, depths and tasks are handled here.
#pragma once
#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "lowering/code/Parameters.h"
#include "lowering/cpu/SharedBodies.h"
#include "lowering/cpu/Tier.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "lowering/target/KernelNeeds.h"
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
class FunctionCode {
public:
  FunctionCode(KernelSequence &sequence, ImplicitLocOpBuilder &builder, Value context);

  ImplicitLocOpBuilder &builder;
  const Tier tier;
  Value context; // const TnContext *
  Value tile;    // kernels only
  Value scratch; // kernels only: 64-byte aligned, Kernel::scratchBytes of this worker

  /// A size, from the dims of the entry.
  Value size(mlir::AffineExpr expression);
  /// An index value of the kernel form that is a symbolic dim or the index of a loop; null for anything else.
  Value scalar(Value index);
  /// Address of element 0 of a tensor in `reads` or `writes` of the kernel, or (entry) of any tensor.
  Value pointer(Value tensor);
  /// Address of Kernel::places[i], Kernel::temporaries[i].
  Value place(unsigned index);
  Value temporary(unsigned index);
  /// An i64 field of the context or of the call record behind it (lowering/artifact/Abi.h).
  Value field(int64_t offset);
  Value pointerField(int64_t offset);

  /// Computes an address from a place instead of taking it from the arguments of the kernel.
  Value address(const Buffer &buffer);
  KernelSequence &sequence;

private:
  friend class KernelSequence;
  Type pointer_();
  llvm::DenseMap<Value, Value> pointers; // tensor -> argument
  llvm::SmallVector<Value> placePointers, temporaryPointers;
  llvm::SmallVector<Value> dimValues;
  bool isEntry = false;
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
};

/// One entry of one tier: the function under construction and the kernels called by it so far.
class KernelSequence {
public:
  /// `bodies`: of all entries in `target`.
  KernelSequence(mlir::ModuleOp target, const ScheduledEntry &entry, const ParameterTable &parameters, Tier tier,
                 SharedBodies &bodies);
  /// Of a sequence that notes in `needs` what the kernels of an op need, before memory is planned: no code is made, nothing has a
  /// place.
  KernelSequence(mlir::func::FuncOp entry, Tier tier, KernelNeeds &needs);

  /// Emits the whole entry as `symbol`: int32_t (const TnContext *). Errors are reported at the ops.
  mlir::LogicalResult emit(llvm::StringRef symbol);

  // For generators:
  void add(const Kernel &kernel);
  /// Memory that the kernels of one op share, bytes over the dims. It is dead before and after that op. An op asks for the same
  /// ones in the same order whenever it is generated.
  unsigned temporary(mlir::AffineExpr bytes);
  /// The place of a tensor, as the schedule says it. None where nobody reads it, and none while needs are noted.
  std::optional<Buffer> bufferOf(Value tensor);
  const ParameterTable &allParameters();
  bool hasShortParameters() const { return bool(parameterType(source->getParentOfType<mlir::ModuleOp>())); }
  bool onlyNotes() const { return needs; }
  Tier tier() const { return targetTier; }
  mlir::func::FuncOp function() const { return source; }
  mlir::ModuleOp module() const { return target; }
  /// An external function of libm, declared on first use: double name(double...).
  mlir::LLVM::LLVMFuncOp libraryFunction(llvm::StringRef name, unsigned arguments);
  /// A name that no other symbol of the target module has.
  std::string uniqueName(llvm::StringRef stem);

private:
  llvm::StringMap<unsigned> lastSuffix; // of uniqueName, by stem
  friend class FunctionCode;
  void emitWalkCheck();
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitLoop(LoopOp loop);
  void emitCopy(CopyOp copy);
  void emitReady(ReadyOp ready);
  mlir::LogicalResult emitHalf(mlir::Block::iterator begin, mlir::Block::iterator end, int64_t otherHalf);
  mlir::LogicalResult emitOps(mlir::Block::iterator begin, mlir::Block::iterator end);
  struct TileArguments;
  TileArguments argumentsOf(const Kernel &kernel);
  mlir::LLVM::LLVMFuncOp emitTileBody(const Kernel &kernel, llvm::StringRef name, const TileArguments &arguments,
                                      ImplicitLocOpBuilder &builder);
  mlir::LLVM::LLVMFuncOp emitTileFunction(const Kernel &kernel);
  mlir::ModuleOp target;
  mlir::func::FuncOp source;
  const Arenas *arenas = nullptr;
  const ParameterTable *parameters = nullptr;
  ParameterTable ownParameters; // where none were given
  Tier targetTier;
  SharedBodies *bodies = nullptr;
  KernelNeeds *needs = nullptr;
  std::string prefix;
  FunctionCode *entry = nullptr;
  Value call;                         // the entry's own copy of the context
  unsigned loops = 0;                 // around the current op
  mlir::Operation *current = nullptr; // whose kernels are generated
  unsigned nextTemporary = 0;         // of it
  bool lacksTemporary = false;        // the schedule gives it fewer than it asks for
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
/// Adds up the gradients of slices: tenon.sum_slices.
void generateSumSlices(SumSlicesOp op, const Buffer &gradient, int64_t slices, KernelSequence &sequence);

} // namespace tenon::cpu
