#include "lowering/kernel/PackOperands.h"
#include "dialect/Build.h"
#include "dialect/Packs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <map>

using namespace mlir;

namespace tenon {
namespace {

/// Whether every round of the loop reads the same.
bool isSameInAllRounds(StackOp loop, ReadParameterOp read) {
  auto isOutside = [&](Value value) { return !loop.getBody().isAncestor(value.getParentRegion()); };
  return isOutside(read.getValue()) || llvm::all_of(read.getDepths(), isOutside);
}

/// Whether there is more than one round, as far as that is known. An entry that walks goes one place at a time, mostly.
bool hasRounds(StackOp loop) {
  if (std::optional<int64_t> number = loop.countNumber())
    return *number > 1;
  auto walk = loop->getParentOfType<FunctionOpInterface>()->getAttrOfType<DictionaryAttr>("tenon.walk");
  return !walk || !loop.countForm().isFunctionOfDim(unsigned(walk.getAs<IntegerAttr>("count").getInt()));
}

/// The outermost of the loops around the kernel whose rounds, more than one, all read the same. Null: there is none.
StackOp outermostLoop(Operation *kernel, ReadParameterOp read) {
  StackOp found;
  for (auto loop = kernel->getParentOfType<StackOp>(); loop && isSameInAllRounds(loop, read);
       loop = loop->getParentOfType<StackOp>())
    if (hasRounds(loop))
      found = loop;
  return found;
}

/// Whether the first result that is put is contiguous along a dimension of operand a: then that is the one in columns.
bool isAcross(GemmOp gemm) {
  for (PutOp put : gemm.getBody().front().getOps<PutOp>()) {
    auto last = put.getIndices().empty() ? BlockArgument() : dyn_cast<BlockArgument>(put.getIndices().back());
    return last && last.getOwner() == &gemm.getBody().front() &&
           llvm::is_contained(gemm.getALabels(), int64_t(last.getArgNumber()));
  }
  return false;
}

class Packer {
public:
  explicit Packer(const Target &target) : target(target) {}

  void visit(KernelOpInterface kernel) {
    std::optional<PanelRead> own = kernel.panelRead();
    auto read = own ? own->operand.getDefiningOp<ReadParameterOp>() : ReadParameterOp();
    const Type element = read ? tensorOf(read.getValue()).getElementType() : Type();
    std::optional<PanelForm> form = element ? target.panelsOf(element) : std::nullopt;
    if (!form || own->rows.value_or(0) > form->mostRows || tensorOf(read.getValue()).getNumDynamicDims() > 0)
      return;
    const Panels wanted{own->leading, form->width, form->steps, !own->firstIsSummed};
    auto gemm = dyn_cast<GemmOp>(kernel.getOperation());
    if (Panels::of(kernel) == wanted || !gemm || isAcross(gemm)) // it reads them already, or could not
      return;
    if (StackOp loop = outermostLoop(kernel, read)) {
      Value packed = pack(loop, read, wanted, Panels::of(kernel));
      for (OpOperand &operand : kernel->getOpOperands())
        if (operand.get() == own->operand)
          operand.set(packed);
      wanted.set(kernel);
    }
  }

private:
  /// `from`: how the parameter lies; row-major, where that is nothing.
  Value pack(StackOp loop, ReadParameterOp read, const Panels &wanted, std::optional<Panels> from) {
    Value &packed = made[{loop, read, wanted.transposed}];
    if (packed)
      return packed;
    OpBuilder builder(loop);
    if (loop->isProperAncestor(read))
      read->moveBefore(loop);
    auto array = [&](const Panels &panels) {
      return builder.getDenseI64ArrayAttr({panels.leading, panels.width, panels.steps, panels.transposed});
    };
    Value matrix = read.getValue();
    auto op = PackOp::create(builder, read.getLoc(), matrix.getType(), matrix, from ? array(*from) : DenseI64ArrayAttr());
    wanted.set(op);
    return packed = op.getPacked();
  }

  const Target &target;
  std::map<std::tuple<Operation *, Operation *, bool>, Value> made; // by loop, what is read, and direction
};

} // namespace

void packInFrontOfLoops(ModuleOp module, const Target &target) {
  SmallVector<KernelOpInterface> kernels;
  module.walk([&](KernelOpInterface kernel) { kernels.push_back(kernel); });
  Packer packer(target);
  for (KernelOpInterface kernel : kernels)
    packer.visit(kernel);
}

} // namespace tenon
