#include "lowering/kernel/JoinNests.h"
#include "dialect/ElementModel.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "lowering/Declined.h"
#include "lowering/kernel/ValuesInMemory.h"

using namespace mlir;

namespace tenon {

constexpr llvm::StringLiteral kRewrite = "join-nests";

/// The tensor that a nest reads most of, at nominal sizes; null: it reads none.
static Value largestRead(NestOp nest) {
  Value largest;
  int64_t most = 0;
  for (Value tensor : nest.tensorsRead())
    if (const int64_t bytes = nominalSize(tensorBytes(cast<RankedTensorType>(tensor.getType()))); bytes > most) {
      most = bytes;
      largest = tensor;
    }
  return largest;
}

/// The inner dimensions that end a row's code.
static EachOp innerOf(NestOp nest) {
  Block &block = nest.getBody().front();
  return block.empty() ? EachOp() : dyn_cast<EachOp>(block.back());
}

static bool canJoin(NestOp first, NestOp second) {
  Value tensor = largestRead(first);
  if (first.getRows() != second.getRows())
    return declined(second, kRewrite, "the nest in front of it has other rows");
  if (!tensor || largestRead(second) != tensor)
    return declined(second, kRewrite, "the nest in front of it reads most of another tensor");
  EachOp own = innerOf(first), other = innerOf(second);
  unsigned each = 0, code = 0;
  for (NestOp nest : {first, second}) {
    for (Operation &op : nest.getBody().front())
      each += isa<EachOp>(op);
    nest.walk([&](Operation *) { ++code; });
  }
  if (bool(own) != bool(other) || each != (own ? 2 : 0) || (own && own.getSizes() != other.getSizes()))
    return declined(second, kRewrite, "the nest in front of it has other inner dimensions");
  if (code > kMostCodeOfKernel)
    return declined(second, kRewrite, "both together would be more code than a kernel has");
  bool isKnown = true; // what the second one reads, where the first one stands
  second.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == first->getBlock())
        isKnown &= definition->isBeforeInBlock(first);
  });
  return isKnown || declined(second, kRewrite, "it reads what is made behind the nest in front of it");
}

/// Why no nest behind `op` is joined with one in front of it; empty: `op` does not stand in the way.
static StringRef whatEnds(Operation *op) {
  if (isa<NestOp>(op))
    return {};
  if (isa<SkipOp>(op))
    return "a skip stands between it and the nest in front of it, and where that ends the round it does not run";
  if (isKernel(op) || op->getNumRegions() > 0)
    return "another kernel or a loop stands between it and the nest in front of it: what both read may have left the caches";
  return {};
}

/// Of the next nest behind `op`, which could be joined with `nest` otherwise.
static void declineBehind(NestOp nest, Operation *op, StringRef why) {
  while (op && !isa<NestOp>(op))
    op = op->getNextNode();
  if (auto other = dyn_cast_or_null<NestOp>(op); other && canJoin(nest, other))
    declined(other, kRewrite, why);
}

static NestOp join(NestOp first, NestOp second) {
  OpBuilder builder(first);
  SmallVector<Type> types(first->getResultTypes());
  llvm::append_range(types, second->getResultTypes());
  auto both = NestOp::create(builder, first.getLoc(), types, first.getRowsAttr());
  second.walk([&](PutOp put) { put.setResult(put.getResult() + first->getNumResults()); });
  EachOp own = innerOf(first), other = innerOf(second);
  auto append = [](Block &to, Block::iterator place, Block &from) {
    for (auto [argument, old] : llvm::zip_equal(to.getArguments(), from.getArguments()))
      old.replaceAllUsesWith(argument);
    to.getOperations().splice(place, from.getOperations());
  };
  if (own) {
    append(own.getBody().front(), own.getBody().front().end(), other.getBody().front());
    other.erase();
  }
  Block &block = first.getBody().front();
  append(block, own ? own->getIterator() : block.end(), second.getBody().front());
  both.getBody().takeBody(first.getBody());
  first->replaceAllUsesWith(both->getResults().take_front(first->getNumResults()));
  second->replaceAllUsesWith(both->getResults().take_back(second->getNumResults()));
  first.erase();
  second.erase();
  return both;
}

void joinNests(func::FuncOp function) {
  SmallVector<NestOp> nests;
  function.walk([&](NestOp nest) { nests.push_back(nest); });
  llvm::DenseSet<Operation *> joined;
  for (NestOp nest : nests) {
    if (joined.contains(nest))
      continue;
    for (Operation *next = nest->getNextNode(); next;) {
      if (StringRef between = whatEnds(next); !between.empty()) {
        declineBehind(nest, next, between);
        break;
      }
      auto other = dyn_cast<NestOp>(next);
      next = next->getNextNode();
      if (other && canJoin(nest, other)) {
        joined.insert(other);
        nest = join(nest, other);
      }
    }
  }
}

} // namespace tenon
