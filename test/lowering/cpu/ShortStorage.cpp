#include "test/lowering/cpu/ShortStorage.h"
#include "dialect/TensorSizes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::test {

static void retype(Value value, Type storage) {
  if (value)
    value.setType(cast<RankedTensorType>(value.getType()).clone(storage));
}
template <class Op> static void retypeShared(Op op, Type storage) {
  for (Value value : {op.getQuery(), op.getKey(), op.getValue(), op.getPositionQuery(), op.getTable(), op.getValueTable(),
                      op.getPositionKey(), op.getKeyTable(), op.getPairScores()})
    retype(value, storage);
}
static void renewType(func::FuncOp function) {
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), {}));
}
static std::string nameOf(int64_t output) { return "output " + std::to_string(output); }
static SmallVector<AttentionGradOp> gradientsOf(func::FuncOp function) {
  return llvm::to_vector(function.getBody().getOps<AttentionGradOp>());
}
/// Outputs of y come behind the function's own.
static int64_t firstOutputOfY(func::FuncOp function) {
  return llvm::range_size(function.getBody().getOps<OutputOp>()) - int64_t(gradientsOf(function).size());
}

void storeShort(ModuleOp module, Type storage) {
  module.walk([&](AttentionOp op) {
    retypeShared(op, storage);
    retype(op.getY(), storage);
  });
  module.walk([&](AttentionGradOp op) {
    retypeShared(op, storage);
    for (Value value : {op.getDy(), op.getY(), op.getDquery(), op.getDkey(), op.getDvalue(), op.getDpositionQuery(),
                        op.getDpositionKey(), op.getDpairScores()})
      retype(value, storage);
  });
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    renewType(function);
    int64_t next = llvm::range_size(function.getBody().getOps<OutputOp>());
    OpBuilder builder(function.getBody().front().getTerminator());
    for (AttentionGradOp op : gradientsOf(function))
      OutputOp::create(builder, op.getLoc(), uint64_t(next++), "y", op.getY());
  }
}

void takeYAsInput(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    for (AttentionGradOp op : gradientsOf(function)) {
      const unsigned number = function.getNumArguments();
      if (failed(function.insertArgument(number, op.getY().getType(), {}, op.getLoc())))
        fail(op, "no further argument");
      op.getYMutable().assign(function.getArgument(number));
    }
  }
}

std::vector<Numbers> inputsWithY(func::FuncOp shortFunction, const std::vector<Numbers> &inputs, const Results &results) {
  std::vector<Numbers> all = inputs;
  int64_t next = firstOutputOfY(shortFunction);
  for ([[maybe_unused]] AttentionGradOp op : gradientsOf(shortFunction)) {
    auto &[element, bytes] = results.named.at(nameOf(next++));
    all.push_back(load(element, bytes.data(), bytes.size() / 2));
  }
  return all;
}

bool sameWhenRounded(const std::string &what, const Results &results, const Results &wide, double corrupt) {
  bool good = true;
  for (auto &[name, value] : wide.named) {
    auto &[element, bytes] = results.named.at(name);
    std::vector<char> expected = value.second;
    if (element != value.first) {
      const size_t count = bytes.size() / 2;
      Numbers numbers = load(value.first, value.second.data(), count);
      if (count > 0)
        numbers[0] += corrupt;
      expected.resize(bytes.size());
      store(element, expected.data(), numbers);
    }
    if (bytes != expected) {
      llvm::outs() << what << ": " << name << " is not what the f32 kernel gives\n";
      good = false;
    }
  }
  return good;
}

} // namespace tenon::test
