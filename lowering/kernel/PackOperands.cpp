#include "lowering/kernel/PackOperands.h"
#include "dialect/Build.h"
#include "dialect/Packs.h"
#include "lowering/Declined.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <map>

using namespace mlir;

namespace tenon {
namespace {

constexpr llvm::StringLiteral kRewrite = "pack-operands";

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

  /// Lets a contraction in a loop read a pack in front of it, where its operand b is a parameter.
  bool visit(GemmOp kernel) {
    auto interface = cast<KernelOpInterface>(kernel.getOperation());
    const std::optional<PanelRead> own = interface.panelRead();
    auto read = own ? own->operand.getDefiningOp<ReadParameterOp>() : ReadParameterOp();
    if (!read || !kernel->getParentOfType<StackOp>())
      return declined(kernel, kRewrite, "it reads no parameter by columns and steps, in a loop");
    const std::optional<PanelForm> form = target.panelsOf(tensorOf(read.getValue()).getElementType());
    if (!form)
      return declined(kernel, kRewrite, "the target has no panels for the type");
    if (own->rows.value_or(0) > form->mostRows)
      return declined(kernel, kRewrite, "it has so many rows that a panel is packed once for many strips of them");
    const Panels wanted{own->leading, form->width, form->steps, !own->firstIsSummed};
    if (Panels::of(interface) == wanted)
      return declined(kernel, kRewrite, "it reads the parameter's own panels where they are");
    if (isAcross(kernel))
      return declined(kernel, kRewrite, "its result is contiguous along a, which is the side in columns");
    StackOp loop = outermostLoop(kernel, read);
    if (!loop)
      return declined(kernel, kRewrite, "no loop of several rounds around it reads the same in each");
    Value packed = pack(loop, read, wanted, Panels::of(interface));
    for (OpOperand &operand : kernel->getOpOperands())
      if (operand.get() == own->operand)
        operand.set(packed);
    wanted.set(interface);
    return true;
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
  SmallVector<GemmOp> contractions;
  module.walk([&](GemmOp gemm) { contractions.push_back(gemm); });
  Packer packer(target);
  for (GemmOp gemm : contractions)
    packer.visit(gemm);
}

} // namespace tenon
