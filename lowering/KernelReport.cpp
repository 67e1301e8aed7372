#include "lowering/KernelReport.h"
#include "dialect/AttentionMasks.h"
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tenon {
namespace {

constexpr int64_t kSoftmaxFlops = 6; // per pair: scale, maximum, subtraction, exp, sum, normalisation
/// Per element: the norm of the gradient, clipping, and the rule of the optimizer (moments, bias correction, decay, update).
int64_t optimizerFlops(StringRef rule) { return rule == "sgd" ? 7 : 16; }

class Reporter {
public:
  Reporter(func::FuncOp function, FormulaSpace &space) : space(space) { walk(function.getBody().front(), 1); }
  std::vector<KernelRow> rows;

private:
  /// An element that scalar code reads: how often, over all places where it does.
  using Accesses = llvm::MapVector<Value, Polynomial>;

  void walk(Block &block, int64_t calls);
  void report(Operation &op, int64_t calls);
  Polynomial size(AffineMap sizes);
  Polynomial elements(Type type);
  Polynomial bytes(Value tensor);
  void countScalars(Block &block, const Polynomial &times, KernelRow &row, Accesses &accesses);
  void countGemm(GemmOp gemm, KernelRow &row);
  template <typename Op> void countAttention(Op op, int64_t passes, KernelRow &row);
  void addTraffic(Operation &op, const Accesses &accesses, KernelRow &row);
  FormulaSpace &space;
};

Polynomial Reporter::size(AffineMap sizes) {
  Polynomial product = 1;
  for (AffineExpr size : sizes.getResults())
    product = product * space.of(size);
  return product;
}

Polynomial Reporter::elements(Type type) {
  Polynomial product = 1;
  for (AffineExpr size : sizesOf(cast<RankedTensorType>(type)))
    product = product * space.of(size);
  return product;
}

int64_t bytesOfElement(Type type) { return std::max(8u, cast<RankedTensorType>(type).getElementTypeBitWidth()) / 8; }

Polynomial Reporter::bytes(Value tensor) { return elements(tensor.getType()) * bytesOfElement(tensor.getType()); }

void Reporter::countScalars(Block &block, const Polynomial &times, KernelRow &row, Accesses &accesses) {
  for (Operation &op : block) {
    if (auto each = dyn_cast<EachOp>(op)) {
      countScalars(each.getBody().front(), times * size(each.getSizes()), row, accesses);
    } else if (auto fold = dyn_cast<FoldOp>(op)) {
      Polynomial inner = times * size(fold.getSizes());
      countScalars(fold.getBody().front(), inner, row, accesses);
      if (isa<FloatType>(fold.getValue().getType()))
        row.flops += inner;
    } else if (auto at = dyn_cast<AtOp>(op)) {
      accesses[at.getTensor()] += times;
    } else if (op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) &&
               !isa<arith::ConstantOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>(op)) {
      row.flops += isa<math::FmaOp>(op) ? Polynomial(2) * times : times;
    }
  }
}

void Reporter::countGemm(GemmOp gemm, KernelRow &row) {
  std::map<int64_t, AffineExpr> sizes;
  for (auto [tensor, labels] : {std::pair(gemm.getA(), gemm.getALabels()), std::pair(gemm.getB(), gemm.getBLabels())})
    for (auto [size, label] : llvm::zip(sizesOf(cast<RankedTensorType>(tensor.getType())), labels))
      sizes[label] = size;
  Polynomial results = 1, all = 1;
  for (auto [label, expression] : sizes) {
    Polynomial size = space.of(expression);
    all = all * size;
    if (label < int64_t(gemm.getRank()))
      results = results * size;
  }
  row.flops += Polynomial(2) * all;
  Accesses accesses;
  countScalars(gemm.getBody().front(), results, row, accesses);
  addTraffic(*gemm, accesses, row);
}

/// Twice the number of pairs (query, key) that a list of masks leaves, when one mask on positions alone decides: key <= query + const. Others depend on
/// data or are rare: all pairs count.
Polynomial doubledPairs(FormulaSpace &space, ArrayAttr masks, const Polynomial &queries, const Polynomial &keys) {
  Polynomial all = Polynomial(2) * queries * keys, best = all;
  for (Attribute attribute : masks) {
    std::string problem;
    auto mask = toMask(attribute, problem);
    if (!mask || mask->kind != Mask::Kind::AtMostZero || !mask->form.terms.empty() || mask->form.key != 1 || mask->form.query != -1)
      continue;
    // Query i sees the keys 0 .. i + first - 1, if that is within the keys for the last query and no less than nothing for the first.
    Polynomial first = Polynomial(1) - space.of(mask->form.rest);
    if (!space.atMost(0, first) || !space.atMost(queries + first - Polynomial(1), keys))
      continue;
    Polynomial pairs = Polynomial(2) * queries * first + queries * (queries - Polynomial(1));
    if (space.atMost(pairs, best))
      best = pairs;
  }
  return best;
}

/// `passes`: contractions per forward contraction; the scores that the gradient computes again are not counted.
template <typename Op> void Reporter::countAttention(Op op, int64_t passes, KernelRow &row) {
  auto sizes = [&](Value tensor, int64_t dim) { return space.of(sizesOf(cast<RankedTensorType>(tensor.getType()))[dim]); };
  Polynomial perPair = Polynomial(2) * sizes(op.getQuery(), 3) + Polynomial(2) * sizes(op.getValue(), 3);
  if (op.getTable())
    perPair += Polynomial(2) * sizes(op.getQuery(), 3);
  if (op.getValueTable())
    perPair += Polynomial(2) * sizes(op.getValue(), 3);
  // Even, because the pairs come doubled.
  perPair = Polynomial(passes) * perPair + Polynomial(kSoftmaxFlops);
  Polynomial half = perPair;
  for (auto &[monomial, coefficient] : half.terms)
    coefficient /= 2;
  Polynomial pairs = doubledPairs(space, op.getMask(), sizes(op.getQuery(), 1), sizes(op.getKey(), 1));
  row.flops += half * sizes(op.getQuery(), 0) * sizes(op.getQuery(), 2) * pairs;
  addTraffic(*op, {}, row);
}

void Reporter::addTraffic(Operation &op, const Accesses &accesses, KernelRow &row) {
  for (auto &[tensor, times] : accesses) {
    Polynomial whole = elements(tensor.getType());
    row.bytes += (space.atMost(times, whole) ? times : whole) * bytesOfElement(tensor.getType());
  }
  llvm::SetVector<Value> read;
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !accesses.contains(operand))
      read.insert(operand);
  for (Value tensor : read)
    row.bytes += bytes(tensor);
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()) && !result.use_empty())
      row.bytes += bytes(result);
}

std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::interrupt();
  });
  return place;
}

/// The parameter whose gradient it makes, else the first one that it reads.
std::string subjectOf(Operation &op) {
  for (Operation *user : op.getUsers())
    if (auto write = dyn_cast<WriteGradientOp>(user))
      return ("gradient of " + write.getParameter()).str();
  std::string found;
  auto see = [&](Value tensor) {
    if (auto read = tensor.getDefiningOp<ReadParameterOp>(); read && found.empty())
      found = read.getParameter().str();
  };
  for (Value operand : op.getOperands())
    see(operand);
  op.walk([&](AtOp at) { see(at.getTensor()); });
  return found;
}

void Reporter::report(Operation &op, int64_t calls) {
  KernelRow row{subjectOf(op), op.getName().stripDialect().str(), placeOf(op.getLoc()), calls, {}, {}};
  if (auto nest = dyn_cast<NestOp>(op)) {
    Accesses accesses;
    countScalars(nest.getBody().front(), size(nest.getRows()), row, accesses);
    addTraffic(op, accesses, row);
  } else if (auto gemm = dyn_cast<GemmOp>(op)) {
    countGemm(gemm, row);
  } else if (auto attention = dyn_cast<AttentionOp>(op)) {
    countAttention(attention, 1, row);
  } else if (auto gradient = dyn_cast<AttentionGradOp>(op)) {
    countAttention(gradient, 2, row);
  } else if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
    row.flops = elements(scatter.getDy().getType());
    if (scatter.getBase()) // in place: only the rows that are named
      row.bytes += Polynomial(3) * bytes(scatter.getDy()) + bytes(scatter.getIndex());
    else
      addTraffic(op, {}, row);
  } else if (auto sums = dyn_cast<RunningSumOp>(op)) {
    row.flops = elements(sums.getY().getType());
    addTraffic(op, {}, row);
  } else if (auto optimize = dyn_cast<OptimizeOp>(op)) {
    for (auto parameter : op.getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
      if (parameter.getFrozen())
        continue;
      Polynomial count = elements(parameter.getType());
      row.flops += Polynomial(optimizerFlops(optimize.getRule())) * count;
      // Gradient twice (the norm comes first), parameter and both moments read and written.
      row.bytes += Polynomial((optimize.getRule() == "sgd" ? 6 : 8) * bytesOfElement(parameter.getType())) * count;
    }
  } else {
    return;
  }
  row.flops = row.flops * calls;
  row.bytes = row.bytes * calls;
  rows.push_back(std::move(row));
}

void Reporter::walk(Block &block, int64_t calls) {
  for (Operation &op : block) {
    if (auto stack = dyn_cast<StackOp>(op))
      walk(stack.getBody().front(), calls * int64_t(stack.getCount()));
    else
      report(op, calls);
  }
}

} // namespace

std::vector<KernelRow> reportKernels(func::FuncOp function, FormulaSpace &space) { return Reporter(function, space).rows; }

MemoryReport reportMemory(const EntryTable &table, FormulaSpace &space) {
  MemoryReport report;
  for (auto [i, bytes] : llvm::enumerate(table.plan->stateBytes)) {
    bool inPlace = i < table.plan->inPlace.size() && table.plan->inPlace[i];
    (inPlace ? report.kept : report.states) += space.aligned(space.of(bytes));
  }
  std::vector<Maximum> ends;
  auto place = [&](const MemoryPlan::Slot &slot) {
    Polynomial bytes = space.aligned(space.of(slot.bytes));
    Maximum end;
    end.add(space, bytes);
    for (unsigned below : slot.after)
      end.add(space, ends[below], bytes);
    report.workspace.add(space, end, 0);
    ends.push_back(std::move(end));
    if (slot.saved)
      report.saved += bytes;
  };
  for (const MemoryPlan::Slot &slot : table.plan->slots)
    place(slot);
  for (const MemoryPlan::Slot &slot : table.temporaries)
    place(slot);
  report.scratchPerWorker = (table.scratchBytes + 63) / 64 * 64;
  func::FuncOp function = table.function;
  auto bytes = [&](Type type) { // each input and output starts on a cache line
    auto tensor = cast<RankedTensorType>(type);
    Polynomial product = std::max(8u, tensor.getElementTypeBitWidth()) / 8;
    for (AffineExpr size : sizesOf(tensor))
      product = product * space.of(size);
    return space.aligned(product);
  };
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type))
      report.inputs += bytes(type);
  for (OutputOp output : function.getBody().front().getOps<OutputOp>())
    report.outputs += bytes(output.getValue().getType());
  return report;
}

} // namespace tenon
