#include "dialect/Blocks.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"

using namespace mlir;
using namespace tenon;

#define GET_OP_CLASSES
#include "dialect/BlockOps.cpp.inc"

RankedTensorType tenon::inBlocks(RankedTensorType rows, int64_t count) {
  if (rows.getRank() == 0 || count < 1)
    return {};
  SmallVector<AffineExpr> sizes(sizesOf(rows));
  const AffineExpr blocks = simplifyAffineExpr(sizes.front().ceilDiv(count), dimCountOf(rows), 0);
  sizes.front() = getAffineConstantExpr(count, rows.getContext());
  sizes.insert(sizes.begin(), blocks);
  return tensorType(sizes, rows.getElementType(), dimCountOf(rows));
}

/// The rows of a block where the type has rows in blocks.
static int64_t rowsOfBlock(RankedTensorType blocks) {
  return blocks.getRank() > 1 && !blocks.isDynamicDim(1) ? blocks.getDimSize(1) : 0;
}

LogicalResult RegroupOp::verify() {
  RankedTensorType x = tensorOf(getX()), y = tensorOf(getY());
  const bool splits = y.getRank() > x.getRank();
  RankedTensorType rows = splits ? x : y, blocks = splits ? y : x;
  if (blocks.getRank() != rows.getRank() + 1) // C1
    return emitOpError("expects one dimension more on one side, got ") << x << " and " << y;
  if (inBlocks(rows, rowsOfBlock(blocks)) != blocks) // C2
    return emitOpError("expects the rows of ") << rows << " in blocks, got " << blocks;
  return success();
}
std::optional<Part> RegroupOp::partOf() { return Part{getX(), {Value(), tensorBytes(tensorOf(getX())), 0}}; }
Value RegroupOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  const bool splits = tensorOf(getY()).getRank() > tensorOf(getX()).getRank();
  Value count = arith::ConstantIndexOp::create(builder, getLoc(), rowsOfBlock(tensorOf(splits ? getY() : getX())));
  SmallVector<Value> all;
  if (splits) {
    Value first = arith::MulIOp::create(builder, getLoc(), indices[0], count);
    all.push_back(arith::AddIOp::create(builder, getLoc(), first, indices[1]));
  } else {
    all.push_back(arith::DivUIOp::create(builder, getLoc(), indices[0], count));
    all.push_back(arith::RemUIOp::create(builder, getLoc(), indices[0], count));
  }
  llvm::append_range(all, indices.drop_front(splits ? 2 : 1));
  return read(getX(), all);
}
