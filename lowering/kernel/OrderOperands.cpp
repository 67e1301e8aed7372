#include "lowering/kernel/OrderOperands.h"
#include "dialect/Build.h"
#include "lowering/Declined.h"
#include <map>

using namespace mlir;

namespace tenon {
namespace {

constexpr llvm::StringLiteral kRewrite = "order-operands";

/// How often an element is read, at nominal sizes, for a copy to be worth it: the copy gathers once, and stores.
constexpr int64_t kLeastReads = 8;

/// The index that is on lanes where `op` runs: of the innermost `each`, or of a fold outside of any; null: there is none.
BlockArgument laneOf(Operation *op) {
  BlockArgument lane;
  for (Operation *around = op->getParentOp(); !isa<NestOp>(around); around = around->getParentOp()) {
    if (!isa<EachOp>(around) && (lane || !isa<FoldOp>(around)))
      continue;
    Block &block = around->getRegion(0).front();
    if (block.getNumArguments() > 0)
      lane = block.getArguments().back();
    if (isa<EachOp>(around))
      break;
  }
  return lane;
}

/// What `index` grows by with `lane`; nothing where that is no number.
std::optional<int64_t> growthWith(Value index, BlockArgument lane) {
  Operation *op = index.getDefiningOp();
  if (!op)
    return index == lane;
  SmallVector<int64_t> growths;
  for (Value operand : op->getOperands()) {
    const std::optional<int64_t> growth = growthWith(operand, lane);
    if (!growth)
      return std::nullopt;
    growths.push_back(*growth);
  }
  if (isa<arith::AddIOp>(op))
    return growths[0] + growths[1];
  if (isa<arith::SubIOp>(op))
    return growths[0] - growths[1];
  return llvm::all_of(growths, [](int64_t growth) { return growth == 0; }) ? std::optional<int64_t>(0) : std::nullopt;
}

/// The dimension along which lanes read one element after the other, if that is not the last one.
std::optional<unsigned> gatheredAlong(AtOp at) {
  BlockArgument lane = laneOf(at);
  std::optional<unsigned> found;
  for (auto [dim, index] : llvm::enumerate(at.getIndices())) {
    const std::optional<int64_t> growth = lane ? growthWith(index, lane) : std::nullopt;
    if (!growth || *growth < 0 || *growth > 1 || (*growth == 1 && found))
      return std::nullopt;
    if (*growth == 1)
      found = dim;
  }
  return found && *found + 1 < at.getIndices().size() ? found : std::nullopt;
}

/// Whether `at` runs so often, at nominal sizes, that a copy of what it reads is worth it.
bool isWorthCopy(AtOp at) {
  MLIRContext *context = at.getContext();
  if (tensorOf(at.getTensor()).getElementType().isInteger(16))
    return declined(at->getParentOfType<NestOp>(), kRewrite, "half of a parameter is nothing that a nest makes");
  AffineExpr runs = getAffineConstantExpr(1, context);
  for (Operation *around = at->getParentOp();; around = around->getParentOp()) {
    if (auto loop = dyn_cast<InnerLoopOpInterface>(around))
      runs = runs * product(llvm::to_vector(loop.getSizes().getResults()), context);
    if (auto nest = dyn_cast<NestOp>(around)) {
      runs = runs * product(nest.parallelDomain(), context);
      break;
    }
  }
  const int64_t elements = nominalSize(product(sizesOf(tensorOf(at.getTensor())), context));
  return nominalSize(runs) >= kLeastReads * elements ||
         declined(at->getParentOfType<NestOp>(), kRewrite, "what its lanes gather is read few times");
}

class Orderer {
public:
  void visit(AtOp at) {
    const std::optional<unsigned> dim = gatheredAlong(at);
    if (!dim || !isWorthCopy(at))
      return;
    auto nest = at->getParentOfType<NestOp>();
    SmallVector<Value> indices(at.getIndices());
    std::rotate(indices.begin() + *dim, indices.begin() + *dim + 1, indices.end());
    OpBuilder builder(at);
    Value element = AtOp::create(builder, at.getLoc(), ordered(nest, at.getTensor(), *dim), indices);
    at.replaceAllUsesWith(element);
    at.erase();
  }

private:
  /// `tensor` with its dimension `dim` last.
  Value ordered(NestOp nest, Value tensor, unsigned dim) {
    Value &copy = made[{tensor.getAsOpaquePointer(), dim}];
    if (copy)
      return copy;
    Operation *place = nest;
    while (place->getBlock() != tensor.getParentBlock())
      place = place->getParentOp();
    auto type = tensorOf(tensor);
    SmallVector<AffineExpr> sizes = sizesOf(type);
    std::rotate(sizes.begin() + dim, sizes.begin() + dim + 1, sizes.end());
    const unsigned dims = dimCountOf(type);
    auto last = ArrayRef<AffineExpr>(sizes).take_back(), rows = ArrayRef<AffineExpr>(sizes).drop_back();
    OpBuilder builder(place);
    auto made = NestOp::create(builder, nest.getLoc(), tensorType(sizes, type.getElementType(), dims),
                               AffineMapAttr::get(sizeMap(rows, dims, builder.getContext())));
    SmallVector<Value> indices;
    auto open = [&](Region &region, size_t count) {
      Block &block = region.emplaceBlock();
      for (size_t i = 0; i < count; ++i)
        indices.push_back(block.addArgument(builder.getIndexType(), nest.getLoc()));
      builder.setInsertionPointToEnd(&block);
    };
    open(made.getBody(), rows.size());
    open(EachOp::create(builder, nest.getLoc(), sizeMap(last, dims, builder.getContext())).getBody(), 1);
    SmallVector<Value> places(indices);
    std::rotate(places.begin() + dim, places.end() - 1, places.end());
    Value element = AtOp::create(builder, nest.getLoc(), tensor, places);
    PutOp::create(builder, nest.getLoc(), builder.getI64IntegerAttr(0), indices, element);
    return copy = made.getResult(0);
  }

  std::map<std::pair<const void *, unsigned>, Value> made; // by tensor and dimension
};

} // namespace

void orderOperands(func::FuncOp function) {
  SmallVector<AtOp> reads;
  function.walk([&](NestOp nest) { nest.walk([&](AtOp at) { reads.push_back(at); }); });
  Orderer orderer;
  for (AtOp at : reads)
    orderer.visit(at);
}

} // namespace tenon
