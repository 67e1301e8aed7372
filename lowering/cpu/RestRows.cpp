#include "lowering/cpu/RestRows.h"
#include "lowering/cpu/Loops.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::cpu {

static bool isCondition(Value value, const RowCondition &condition) {
  auto read = value.getDefiningOp<AtOp>();
  return read && read.getTensor() == condition.where && llvm::equal(read.getIndices(), condition.indices);
}

static bool isZeroWhereFails(Value value, const RowCondition &condition, Value sum) {
  if (auto choice = value.getDefiningOp<arith::SelectOp>(); choice && isCondition(choice.getCondition(), condition))
    return isZeroWhereFails(choice.getFalseValue(), condition, sum);
  return value == sum || matchPattern(value, m_AnyZeroFloat());
}

Value keptWhereFails(PutOp put, const RowCondition &condition, Value sum) {
  auto both = put.getElement().getDefiningOp<arith::AddFOp>();
  if (!both)
    return {};
  for (auto [kept, added] : {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())})
    if (auto read = kept.getDefiningOp<AtOp>(); read && llvm::equal(read.getIndices(), put.getIndices()))
      if (isZeroWhereFails(added, condition, sum))
        return read.getTensor();
  return {};
}

Value areInPlace(FunctionCode &code, ArrayRef<std::pair<Value, Value>> kept) {
  Value all = arith::ConstantOp::create(code.builder, code.builder.getBoolAttr(true));
  for (auto [result, tensor] : kept) {
    Value same = LLVM::ICmpOp::create(code.builder, LLVM::ICmpPredicate::eq, code.pointer(result), code.pointer(tensor));
    all = code.builder.createOrFold<arith::AndIOp>(all, same);
  }
  return all;
}

Value restStays(FunctionCode &code, GemmOp gemm, const GemmAxes &axes) {
  Block &block = gemm.getBody().front();
  RowCondition condition{axes.where, {}};
  for (int64_t label : axes.whereLabels)
    condition.indices.push_back(block.getArgument(label));
  SmallVector<std::pair<Value, Value>> kept;
  for (PutOp put : block.getOps<PutOp>()) {
    if (gemm.getRestUnread() && (*gemm.getRestUnread())[put.getResult()])
      continue;
    Value tensor = keptWhereFails(put, condition, block.getArgument(gemm.getRank()));
    if (!tensor)
      return {};
    kept.emplace_back(gemm.getResult(put.getResult()), tensor);
  }
  return areInPlace(code, kept);
}

} // namespace tenon::cpu
