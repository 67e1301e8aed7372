// Checked program to tensor form: functions, stacks, states, results.
#include "frontend/MlirGen.h"
#include "frontend/MlirGenEntry.h"
#include "frontend/sema/Supported.h"
#include "mlir/IR/Verifier.h"
#include <set>

using namespace mlir;

namespace tenon {

Location EntryGenerator::locate(const ast::Range &range) const {
  if (range.file >= sources.files.size())
    return UnknownLoc::get(context);
  auto position = sources.position(range.file, range.begin);
  return FileLineColLoc::get(context, sources.files[range.file].path, position.line, position.column);
}

func::FuncOp EntryGenerator::createFunction() {
  SmallVector<Type> arguments(entry.dims.size(), IndexType::get(context));
  for (const Input &input : entry.inputs)
    arguments.push_back(typeOf(input.type));
  root.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(root, UnknownLoc::get(context), entry.name, FunctionType::get(context, arguments, {}));
  SmallVector<StringRef> dims(entry.dims.begin(), entry.dims.end());
  const char *kinds[] = {"out", "eval", "train"};
  function->setAttr("tenon.dims", root.getStrArrayAttr(dims));
  function->setAttr("tenon.kind", root.getStringAttr(kinds[int(entry.kind)]));
  SmallVector<Attribute> states;
  for (const State &state : entry.states) { // stack counts first, then the sizes
    SmallVector<AffineExpr> sizes;
    for (int64_t count : state.stackCounts)
      sizes.push_back(getAffineConstantExpr(count, context));
    for (const Size &size : state.shape)
      sizes.push_back(toAffine(size, context));
    Type element = state.element == Element::Real ? real : state.element == Element::Int ? Type(root.getI32Type()) : Type(root.getI1Type());
    states.push_back(TypeAttr::get(tensorType(sizes, element, entry.dims.size())));
  }
  function->setAttr("tenon.states", root.getArrayAttr(states));
  if (entry.isStep)
    describeStep(function);
  function.addEntryBlock();
  return function;
}

/// Which states lie in place, and what the entry checks before it runs: position + dim `count` <= capacity.
void EntryGenerator::describeStep(func::FuncOp function) {
  SmallVector<bool> inPlace;
  for (const State &state : entry.states)
    inPlace.push_back(state.inPlace);
  function->setAttr("tenon.in_place", root.getDenseBoolArrayAttr(inPlace));
  unsigned count = entry.axes[entry.walked].size.coefficients().begin()->first;
  function->setAttr("tenon.walk", root.getDictionaryAttr({root.getNamedAttr("position", root.getI64IntegerAttr(entry.positionState)),
                                                          root.getNamedAttr("count", root.getI64IntegerAttr(count)),
                                                          root.getNamedAttr("capacity", form(entry.capacity))}));
}

bool EntryGenerator::generate() {
  function = createFunction();
  root.setInsertionPointToStart(&function.getBody().front());
  written.assign(entry.states.size(), false);
  generateResults();
  if (failed)
    return false;
  writeStates(entry.nextStates, root, {});
  copyUnwrittenStates();
  func::ReturnOp::create(root, UnknownLoc::get(context));
  return !failed;
}

/// `out`: the values. Losses: f64 scalars; a train entry puts their weighted sum first.
void EntryGenerator::generateResults() {
  int64_t index = 0;
  auto output = [&](StringRef name, Value value) { OutputOp::create(root, current, index++, name, value); };
  if (entry.kind == Entry::Kind::Out) {
    for (auto &[name, node] : entry.results)
      if (Value result = value(node))
        output(name, result);
    return;
  }
  SmallVector<std::pair<std::string, Value>> losses;
  for (auto &[name, node] : entry.results) {
    Value result = value(node);
    if (!result)
      return;
    losses.emplace_back(name, result);
  }
  Build build(root, current);
  if (entry.kind == Entry::Kind::Train) {
    Value total;
    for (auto &[name, loss] : losses) {
      double weight = 1;
      for (auto &[weighted, factor] : program.lossWeights)
        if (weighted == name)
          weight = factor;
      Value term = weight == 1 ? loss : build.scale(loss, weight);
      total = total ? build.add(total, term) : term;
    }
    output("loss", build.convert(total, root.getF64Type()));
  }
  for (auto &[name, loss] : losses)
    output(name, build.convert(loss, root.getF64Type()));
  for (size_t i = 0; i < entry.parts.size(); ++i)
    if (Value part = value(entry.parts[i]))
      output(partName(i), part);
}

void EntryGenerator::writeStates(const std::vector<std::pair<uint32_t, NodeId>> &next, OpBuilder &builder, ValueRange depths) {
  for (auto &[state, node] : next) {
    Value x = value(node);
    const State &target = entry.states[state];
    if (!x || target.inPlace) // an append, which has written it
      continue;
    Type element = target.element == Element::Real ? real : target.element == Element::Int ? Type(builder.getI32Type()) : Type(builder.getI1Type());
    WriteStateOp::create(builder, current, builder.getI64IntegerAttr(state), depths, Build(builder, current).convert(x, element));
    written[state] = true;
  }
}

/// The runtime swaps old and new states after a run, so an entry that leaves a state alone copies it.
void EntryGenerator::copyUnwrittenStates() {
  auto types = function->getAttrOfType<ArrayAttr>("tenon.states");
  for (size_t i = 0; i < entry.states.size(); ++i) {
    if (written[i]) {
      keepStatesBetween(i);
      continue;
    }
    Type type = cast<TypeAttr>(types[i]).getValue();
    Value old = ReadStateOp::create(root, current, type, root.getI64IntegerAttr(i), ValueRange());
    WriteStateOp::create(root, current, root.getI64IntegerAttr(i), ValueRange(), old);
  }
}

namespace {

/// Depths of a state that one body sets: a range for each level, outermost first.
using Depths = SmallVector<std::pair<int64_t, int64_t>>;

/// Calls `visit(from, to, bodies)` for the ranges of `level` in which the same bodies set the state.
template <typename Visit> void forRanges(ArrayRef<Depths> set, size_t level, int64_t count, Visit visit) {
  std::set<int64_t> cuts{0, count};
  for (const Depths &depths : set)
    cuts.insert({depths[level].first, depths[level].second});
  for (auto from = cuts.begin(), to = std::next(from); to != cuts.end(); ++from, ++to) {
    std::vector<Depths> here;
    for (const Depths &depths : set)
      if (depths[level].first <= *from && *to <= depths[level].second)
        here.push_back(depths);
    visit(*from, *to, here);
  }
}

bool coversAll(ArrayRef<Depths> set, size_t level, ArrayRef<int64_t> counts) {
  if (level == counts.size())
    return !set.empty();
  bool all = true;
  forRanges(set, level, counts[level], [&](int64_t, int64_t, ArrayRef<Depths> here) { all &= coversAll(here, level + 1, counts); });
  return all;
}

/// Copies the slices that none of `set` writes.
void keepOthers(uint32_t state, RankedTensorType slice, ArrayRef<Depths> set, ArrayRef<int64_t> counts, OpBuilder &builder, Location location,
                SmallVector<Value> &depths) {
  const size_t level = depths.size();
  if (level == counts.size()) {
    Value old = ReadStateOp::create(builder, location, slice, builder.getI64IntegerAttr(state), depths);
    WriteStateOp::create(builder, location, builder.getI64IntegerAttr(state), depths, old);
    return;
  }
  forRanges(set, level, counts[level], [&](int64_t from, int64_t to, ArrayRef<Depths> here) {
    if (coversAll(here, level + 1, counts))
      return;
    auto loop = StackOp::create(builder, location, TypeRange(), to - from, ValueRange(), false, from);
    Block *block = new Block;
    loop.getBody().push_back(block);
    depths.push_back(block->addArgument(builder.getIndexType(), location));
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    keepOthers(state, slice, here, counts, inside, location, depths);
    YieldOp::create(inside, location, ValueRange());
    depths.pop_back();
  });
}

} // namespace

/// A stack whose bodies differ by depth may set a state at some of its depths only; the others keep theirs.
void EntryGenerator::keepStatesBetween(uint32_t state) {
  const State &info = entry.states[state];
  if (info.inPlace || info.stackCounts.empty())
    return;
  std::vector<Depths> set;
  for (size_t i = 0; i < entry.stacks.size(); ++i)
    for (auto &[index, node] : entry.stacks[i].nextStates)
      if (index == state) {
        set.emplace_back();
        for (size_t stack = i; stack < entry.stacks.size(); stack = entry.stacks[stack].owner)
          set.back().insert(set.back().begin(), {entry.stacks[stack].first, entry.stacks[stack].first + entry.stacks[stack].count.constant()});
      }
  auto whole = cast<RankedTensorType>(cast<TypeAttr>(function->getAttrOfType<ArrayAttr>("tenon.states")[state]).getValue());
  auto slice = tensorType(ArrayRef(sizesOf(whole)).drop_front(info.stackCounts.size()), whole.getElementType(), entry.dims.size());
  SmallVector<Value> depths;
  keepOthers(state, slice, set, info.stackCounts, root, current, depths);
}

OpBuilder &EntryGenerator::builderOf(uint32_t stack) {
  for (OpenStack &level : open)
    if (level.info == stack)
      return level.builder;
  return root;
}

Value EntryGenerator::depthOf(uint32_t stack) {
  for (OpenStack &level : open)
    if (level.info == stack)
      return level.op.getBody().front().getArgument(0);
  return {};
}

SmallVector<Value> EntryGenerator::depthsOf(uint32_t stack) {
  SmallVector<Value> depths;
  for (; stack < entry.stacks.size(); stack = entry.stacks[stack].owner)
    if (Value depth = depthOf(stack))
      depths.insert(depths.begin(), depth);
  return depths;
}

SmallVector<Value> EntryGenerator::allDepthsOf(uint32_t stack) {
  SmallVector<Value> depths;
  for (; stack < entry.stacks.size(); stack = entry.stacks[stack].parent)
    depths.insert(depths.begin(), depthOf(stack));
  return depths;
}

Value EntryGenerator::countedDepth(uint32_t stack) {
  if (stack >= entry.stacks.size())
    return {};
  OpBuilder &builder = builderOf(stack);
  Value inner = depthOf(stack), outer = countedDepth(entry.stacks[stack].parent);
  if (!outer)
    return inner;
  Value count = arith::ConstantIndexOp::create(builder, current, entry.stacks[stack].total.constant());
  return arith::AddIOp::create(builder, current, arith::MulIOp::create(builder, current, outer, count), inner);
}

Value EntryGenerator::generateStack(const Node &node, NodeId id) {
  const StackInfo &info = entry.stacks[node.index];
  auto count = info.count.asConstant();
  if (!count)
    return unsupported(node, "a stack whose height is not a number");
  SmallVector<Value> carries;
  SmallVector<Type> types;
  for (size_t i = 0; i < node.operands.size(); ++i) { // constants along the depth are generated outside, too
    Value operand = value(node.operands[i]);
    if (!operand)
      return {};
    if (i >= info.carries)
      continue;
    operand = spread(operand, axesOf(node.operands[i]), entry.nodes[info.results[i]].type.axes);
    carries.push_back(operand);
    types.push_back(operand.getType());
  }
  if (info.history)
    for (unsigned i = 0; i < info.carries; ++i) {
      SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(types[i]));
      sizes.insert(sizes.begin(), getAffineConstantExpr(*count, context));
      types.push_back(tensorType(sizes, cast<RankedTensorType>(types[i]).getElementType(), entry.dims.size()));
    }
  OpBuilder &outer = builderOf(node.stack);
  Location location = locate(node.range);
  auto op = StackOp::create(outer, location, types, outer.getI64IntegerAttr(*count), carries, UnitAttr(), outer.getI64IntegerAttr(info.first));
  Block *block = new Block;
  op.getBody().push_back(block);
  block->addArgument(outer.getIndexType(), location);
  for (Value carry : carries)
    block->addArgument(carry.getType(), location);
  // Outer nodes met inside the body go before the op.
  OpBuilder::InsertPoint after = outer.saveInsertionPoint();
  outer.setInsertionPoint(op);
  open.push_back({node.index, op, &node, OpBuilder::atBlockEnd(block)});
  SmallVector<Value> yielded;
  for (unsigned i = 0; i < info.carries; ++i)
    if (Value result = value(info.results[i]))
      yielded.push_back(result);
  if (yielded.size() == info.carries) {
    writeStates(info.nextStates, open.back().builder, depthsOf(node.index));
    if (info.history)
      yielded.append(yielded.begin(), yielded.begin() + info.carries);
    YieldOp::create(open.back().builder, location, yielded);
  }
  open.pop_back();
  outer.restoreInsertionPoint(after);
  results[id] = SmallVector<Value>(op.getResults());
  return op.getNumResults() ? op.getResult(0) : Value();
}

static void declareParameters(const Program &program, ModuleOp module, Type real) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (const Param &param : program.params) {
    SmallVector<int64_t> shape(param.stackCounts.begin(), param.stackCounts.end());
    shape.append(param.shape.begin(), param.shape.end());
    auto policy = program.policies.find(param.path);
    bool frozen = policy != program.policies.end() && policy->second.frozen;
    auto op = ParameterOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(param.path), TypeAttr::get(RankedTensorType::get(shape, real)),
                                  builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(0), param.stackCounts.empty() ? UnitAttr() : builder.getUnitAttr(),
                                  frozen ? builder.getUnitAttr() : UnitAttr(), builder.getI64IntegerAttr(std::max<size_t>(param.stackCounts.size(), 1)));
    SmallVector<double> kept; // elements that no step changes: frozen ones, and those that do not exist
    for (size_t i = 0; i < param.present.size(); ++i)
      kept.push_back(param.present[i] ? 0 : 1);
    if (policy != program.policies.end())
      for (auto [i, isFrozen] : llvm::enumerate(policy->second.frozenAt)) {
        kept.resize(policy->second.frozenAt.size());
        kept[i] = std::max(kept[i], isFrozen);
      }
    if (!kept.empty())
      op->setAttr("frozen_at", builder.getDenseF64ArrayAttr(kept));
    if (policy == program.policies.end())
      continue;
    auto set = [&](StringRef name, const std::vector<double> &factors) {
      if (!factors.empty())
        op->setAttr(name, builder.getDenseF64ArrayAttr(factors));
    };
    set("lr", policy->second.learningRate);
    set("gradient", policy->second.gradient);
    set("decay", policy->second.decay);
    set("clip", policy->second.clip);
    set("clip_group", policy->second.clipGroup);
  }
}

OwningOpRef<ModuleOp> generateModule(const Program &program, const SourceFiles &sources, Type real, Diagnostics &diagnostics) {
  for (const Entry &entry : program.entries)
    reportUnsupported(entry, diagnostics);
  if (diagnostics.hasErrors())
    return {};
  MLIRContext *context = real.getContext();
  context->loadDialect<TenonDialect, func::FuncDialect, arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  declareParameters(program, *module, real);
  for (const Entry &entry : program.entries)
    if (!EntryGenerator(program, entry, sources, *module, real, diagnostics).generate())
      return {};
  return module;
}

} // namespace tenon
