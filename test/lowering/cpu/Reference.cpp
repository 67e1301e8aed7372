#include "test/lowering/cpu/Reference.h"
#include "dialect/Packs.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "test/lowering/cpu/Steps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace tenon::test {

void fail(Operation *op, const char *what) {
  llvm::errs() << "reference: " << what << ": ";
  op->print(llvm::errs(), OpPrintingFlags().skipRegions());
  llvm::errs() << "\n";
  exit(2);
}

namespace {

class Evaluation {
public:
  Evaluation(func::FuncOp function, Machine &machine) : machine(machine) {
    int64_t dim = 0, input = 0;
    for (BlockArgument argument : function.getArguments()) {
      if (argument.getType().isIndex())
        scalars[argument] = {0, machine.dims[dim++]};
      else
        tensors[argument] = machine.inputs[input++];
    }
    runBlock(function.getBody().front());
  }

private:
  std::vector<int64_t> shape(ArrayRef<AffineExpr> sizes) {
    std::vector<int64_t> result;
    for (AffineExpr size : sizes)
      result.push_back(evaluateExpression(size, machine.dims));
    return result;
  }
  std::vector<int64_t> shape(Value tensor) { return shape(sizesOf(cast<RankedTensorType>(tensor.getType()))); }
  static int64_t count(const std::vector<int64_t> &shape) {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
  static int64_t linear(const std::vector<int64_t> &shape, const std::vector<int64_t> &index) {
    int64_t result = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (index[i] < 0 || index[i] >= shape[i]) {
        llvm::errs() << "reference: index " << index[i] << " outside a dimension of " << shape[i] << "\n";
        exit(2);
      }
      result = result * shape[i] + index[i];
    }
    return result;
  }
  void forAll(const std::vector<int64_t> &shape, const std::function<void(const std::vector<int64_t> &)> &body) {
    std::vector<int64_t> index(shape.size(), 0);
    for (int64_t i = 0, n = count(shape); i < n; ++i) {
      int64_t rest = i;
      for (size_t k = shape.size(); k-- > 0; rest /= shape[k])
        index[k] = rest % shape[k];
      body(index);
    }
  }

  /// False: a round of a stack ended before its last op.
  bool runBlock(Block &block) {
    for (Operation &op : block) {
      if (auto skip = dyn_cast<SkipOp>(op); skip && tensors.at(skip.getWhen())[0] != 0)
        return false;
      if (!isa<SkipOp>(op))
        runOp(op);
    }
    return true;
  }

  void runOp(Operation &op) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](NestOp nest) { runNest(nest); })
        .Case([&](GemmOp gemm) { runGemm(gemm); })
        .Case([&](StackOp stack) { runStack(stack); })
        .Case([&](ScatterAddOp scatter) { runScatter(scatter); })
        .Case([&](RunningSumOp sums) { runRunningSum(sums); })
        .Case([&](TopOp top) { runTop(top); })
        .Case([&](PackOp pack) { tensors[pack] = tensors.at(pack.getMatrix()); }) // in another order in memory alone
        .Case([&](OptimizeOp optimize) { evaluateOptimize(optimize, machine, tensors); })
        .Case([&](AttentionOp attention) { evaluateAttention(attention, depthOf(attention), machine, tensors); })
        .Case([&](AttentionGradOp attention) { evaluateAttentionGrad(attention, depthOf(attention), machine, tensors); })
        .Case([&](ReadParameterOp read) {
          tensors[read] = slice(machine.parameters.at(read.getParameter().str()), element(read.getDepths()), read);
        })
        .Case(
            [&](ReadStateOp read) { tensors[read] = slice(machine.states.at(read.getIndex()), element(read.getDepths()), read); })
        .Case([&](ReadLossScaleOp read) { tensors[read] = {machine.lossScale}; })
        .Case([&](AtDepthOp at) {
          tensors[at] = slice(tensors.at(at.getX()), scalars.at(at.getDepth()).whole - int64_t(at.getFirst()), at);
        })
        .Case([&](WriteGradientOp write) {
          store(machine.gradients[write.getParameter().str()], element(write.getDepths()), tensors.at(write.getGradient()));
        })
        .Case([&](WriteStateOp write) {
          store(machine.nextStates.at(write.getIndex()), element(write.getDepths()), tensors.at(write.getValue()));
        })
        .Case([&](OutputOp output) { machine.outputs[output.getIndex()] = tensors.at(output.getValue()); })
        .Case<YieldOp, func::ReturnOp>([&](auto) {})
        .Default([&](Operation *other) { runScalar(*other); });
  }

  template <class Op> int64_t depthOf(Op op) { return op.getDepth() ? scalars.at(op.getDepth()).whole : 0; }

  /// The stack element at these depths, outermost first.
  int64_t element(ValueRange depths) {
    int64_t number = 0;
    for (Value depth : depths)
      number = number * depthCount(depth) + scalars.at(depth).whole;
    return number;
  }
  Numbers slice(const Numbers &whole, int64_t element, Value result) {
    int64_t n = count(shape(result));
    return Numbers(whole.begin() + element * n, whole.begin() + (element + 1) * n);
  }
  void store(Numbers &whole, int64_t element, const Numbers &part) {
    std::copy(part.begin(), part.end(), whole.begin() + element * int64_t(part.size()));
  }

  void runNest(NestOp nest) {
    for (Value result : nest.getResults())
      tensors[result] = Numbers(count(shape(result)), NAN);
    current = nest;
    Block &block = nest.getBody().front();
    forAll(shape(nest.getRows().getResults()), [&](const std::vector<int64_t> &index) {
      bind(block, index);
      runBlock(block);
    });
  }
  void bind(Block &block, const std::vector<int64_t> &index) {
    for (size_t i = 0; i < index.size(); ++i)
      scalars[block.getArgument(i)] = {0, index[i]};
  }

  Numbers operand(Value tensor, Block *element, const std::vector<int64_t> &shape) {
    if (!element)
      return tensors.at(tensor);
    Numbers values;
    forAll(shape, [&](const std::vector<int64_t> &index) {
      bind(*element, index);
      runBlock(*element);
      values.push_back(scalars.at(element->getTerminator()->getOperand(0)).real);
    });
    return values;
  }

  void runGemm(GemmOp gemm) {
    for (Value result : gemm.getResults())
      tensors[result] = Numbers(count(shape(result)), NAN);
    current = gemm;
    std::map<int64_t, int64_t> sizes;
    const auto a = shape(sizesOf(gemm.typeOfA())), b = shape(sizesOf(gemm.typeOfB()));
    const auto labelsOfA = gemm.getALabels(), labelsOfB = gemm.getBLabels();
    for (const auto &[labels, operand] : {std::pair(labelsOfA, &a), std::pair(labelsOfB, &b)})
      for (auto [i, label] : llvm::enumerate(labels))
        if (sizes.try_emplace(label, (*operand)[i]).first->second != (*operand)[i])
          fail(gemm, "the operands differ in the size of an axis");
    std::vector<int64_t> outer, inner, outerLabels, innerLabels;
    for (auto [label, size] : sizes) {
      (label < int64_t(gemm.getRank()) ? outer : inner).push_back(size);
      (label < int64_t(gemm.getRank()) ? outerLabels : innerLabels).push_back(label);
    }
    const Steps outerOfA(outerLabels, labelsOfA, a), outerOfB(outerLabels, labelsOfB, b);
    const Steps innerOfA(innerLabels, labelsOfA, a), innerOfB(innerLabels, labelsOfB, b);
    Block &block = gemm.getBody().front();
    const auto [x, y] = factorsOf(gemm, operand(gemm.getA(), gemm.elementOfA(), a), operand(gemm.getB(), gemm.elementOfB(), b));
    forAll(outer, [&](const std::vector<int64_t> &index) {
      const double *left = x.data() + outerOfA.to(index), *right = y.data() + outerOfB.to(index);
      double sum = 0;
      forAll(inner, [&](const std::vector<int64_t> &k) { sum += left[innerOfA.to(k)] * right[innerOfB.to(k)]; });
      bind(block, index);
      scalars[block.getArgument(index.size())] = {sum, 0};
      runBlock(block);
    });
  }

  void runStack(StackOp stack) {
    Block &block = stack.getBody().front();
    const int64_t n = evaluateExpression(stack.countForm(), machine.dims), carries = stack.getCarries().size();
    for (Value result : stack.getResults())
      tensors[result] = Numbers(count(shape(result)), NAN);
    for (int64_t i = 0; i < carries; ++i)
      tensors[block.getArgument(i + 1)] = tensors[stack.getResult(i)] = tensors.at(stack.getCarries()[i]);
    for (int64_t k = 0; k < n; ++k) {
      Scalar depth{0, int64_t(stack.getFirst()) + (stack.getReverse() ? n - 1 - k : k)};
      scalars[block.getArgument(0)] = depth;
      if (!runBlock(block))
        continue;
      auto yield = cast<YieldOp>(block.getTerminator());
      std::vector<Numbers> values;
      for (Value value : yield.getOperands())
        values.push_back(tensors.at(value));
      for (size_t i = 0; i < values.size(); ++i) {
        if (int64_t(i) < carries)
          tensors[block.getArgument(i + 1)] = tensors[stack.getResult(i)] = values[i];
        else
          store(tensors[stack.getResult(i)], depth.whole - int64_t(stack.getFirst()), values[i]);
      }
    }
  }

  void runScatter(ScatterAddOp op) {
    Numbers &dx = tensors[op.getDx()];
    auto to = shape(op.getDx()), from = shape(op.getDy()), indexShape = shape(op.getIndex());
    if (op.getBase())
      dx = tensors.at(op.getBase());
    else
      dx.assign(count(to), 0);
    forAll(from, [&](const std::vector<int64_t> &i) {
      std::vector<int64_t> at, place;
      for (int64_t dim : op.getIndexDims())
        at.push_back(i[dim]);
      int64_t target = tensors.at(op.getIndex())[linear(indexShape, at)];
      if (op.getClamp())
        target = std::clamp<int64_t>(target, 0, to[op.getDim()] - 1);
      for (int64_t dim : op.getXDims())
        place.push_back(dim < 0 ? target : i[dim]);
      dx[linear(to, place)] += tensors.at(op.getDy())[linear(from, i)];
    });
  }

  void runRunningSum(RunningSumOp op) {
    auto sizes = shape(op.getX());
    const size_t dim = op.getDim();
    const int64_t step = op.getReverse() ? -1 : 1;
    Numbers y(count(sizes));
    forAll(sizes, [&](const std::vector<int64_t> &i) {
      std::vector<int64_t> place = i, before;
      if (op.getReverse())
        place[dim] = sizes[dim] - 1 - i[dim];
      before = place;
      before[dim] -= step;
      y[linear(sizes, place)] = tensors.at(op.getX())[linear(sizes, place)] + (i[dim] > 0 ? y[linear(sizes, before)] : 0);
    });
    tensors[op.getY()] = y;
  }

  void runTop(TopOp op) {
    const Numbers &x = tensors.at(op.getX());
    const int64_t size = shape(op.getX()).back(), best = shape(op.getY()).back(), rows = int64_t(x.size()) / size;
    Numbers y;
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<int64_t> places(size);
      std::iota(places.begin(), places.end(), 0);
      std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
        const double first = x[row * size + a], second = x[row * size + b];
        return first > second || (std::isnan(second) && !std::isnan(first));
      });
      y.insert(y.end(), places.begin(), places.begin() + best);
    }
    tensors[op.getY()] = y;
  }

  std::vector<int64_t> indices(ValueRange values) {
    std::vector<int64_t> result;
    for (Value value : values)
      result.push_back(get(value).whole);
    return result;
  }
  Scalar get(Value value) {
    auto found = scalars.find(value);
    if (found != scalars.end())
      return found->second;
    runOp(*value.getDefiningOp());
    return scalars.at(value);
  }

  void runScalar(Operation &op) {
    if (auto each = dyn_cast<EachOp>(op)) {
      forAll(shape(each.getSizes().getResults()), [&](const std::vector<int64_t> &index) {
        bind(each.getBody().front(), index);
        runBlock(each.getBody().front());
      });
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      runFold(fold);
    } else if (auto at = dyn_cast<AtOp>(op)) {
      // A part of a join that has no element is read all the same, and the value thrown away.
      const std::vector<int64_t> sizes = shape(at.getTensor());
      double value = count(sizes) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                       : tensors.at(at.getTensor())[linear(sizes, indices(at.getIndices()))];
      scalars[at] = {value, isa<FloatType>(at.getType()) ? 0 : int64_t(value)};
    } else if (isa<RowIfOp>(op)) { // nothing reads what is put all the same
    } else if (auto put = dyn_cast<PutOp>(op)) {
      Value result = current->getResult(put.getResult());
      Scalar value = get(put.getElement());
      double &place = tensors[result][linear(shape(result), indices(put.getIndices()))];
      if (!std::isnan(place) && !std::isnan(value.real))
        fail(&op, "an element is put twice");
      place = isa<FloatType>(put.getElement().getType()) ? value.real : double(value.whole);
    } else if (auto keep = dyn_cast<RandomKeepOp>(op)) {
      scalars[keep] = {0, random(keep)};
    } else if (auto bits = dyn_cast<RandomBitsOp>(op)) {
      scalars[bits] = {
          0, randomBits(machine, get(bits.getIndex()).whole, bits.getSite(), bits.getDepth() ? get(bits.getDepth()).whole : 0)};
    } else if (auto size = dyn_cast<SizeValueOp>(op)) {
      scalars[size] = {0, evaluateExpression(size.getForm().getResult(0), machine.dims)};
    } else {
      scalars[op.getResult(0)] = evaluateArithmetic(op, [&](Value value) { return get(value); });
    }
  }

  void runFold(FoldOp fold) {
    const bool real = isa<FloatType>(fold.getType());
    Scalar sum;
    bool first = true;
    Reduction kind = fold.getKind();
    if (kind == Reduction::max)
      sum.real = -INFINITY;
    if (kind == Reduction::min)
      sum.real = INFINITY;
    if (kind == Reduction::all)
      sum.whole = 1;
    Block &block = fold.getBody().front();
    forAll(shape(fold.getSizes().getResults()), [&](const std::vector<int64_t> &index) {
      bind(block, index);
      runBlock(block);
      Scalar term = get(cast<YieldOp>(block.getTerminator()).getOperand(0));
      if (kind == Reduction::sum)
        sum.real += term.real, sum.whole += term.whole;
      else if (kind == Reduction::all)
        sum.whole &= term.whole;
      else if (kind == Reduction::any)
        sum.whole |= term.whole;
      else if (real)
        sum.real = kind == Reduction::max ? std::max(sum.real, term.real) : std::min(sum.real, term.real);
      else
        sum.whole = first                    ? term.whole
                    : kind == Reduction::max ? std::max(sum.whole, term.whole)
                                             : std::min(sum.whole, term.whole);
      first = false;
    });
    scalars[fold.getValue()] = sum;
  }

  bool random(RandomKeepOp op) {
    return survives(machine, get(op.getIndex()).whole, op.getSite(), op.getDepth() ? get(op.getDepth()).whole : 0,
                    op.getThreshold());
  }

  Machine &machine;
  Operation *current = nullptr;
  Tensors tensors;
  llvm::DenseMap<Value, Scalar> scalars;
};

} // namespace

void evaluate(func::FuncOp function, Machine &machine) { Evaluation(function, machine); }

} // namespace tenon::test
