// Checked program to tensor form: functions, parameters, results.
#include "frontend/mlirgen/MlirGen.h"
#include "dialect/ElementModel.h"
#include "dialect/StoredParameter.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/ComputeTypes.h"
#include "frontend/graph/Supported.h"
#include "frontend/mlirgen/MlirGenEntry.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tenon {

Location locationOf(const ast::Range &range, const SourceFiles &sources, MLIRContext *context) {
  if (range.file >= sources.files.size())
    return UnknownLoc::get(context);
  auto position = sources.position(range.file, range.begin);
  return FileLineColLoc::get(context, sources.files[range.file].path, position.line, position.column);
}

Location EntryGenerator::locate(const ast::Range &range) const { return locationOf(range, sources, context); }

func::FuncOp EntryGenerator::createFunction() {
  SmallVector<Type> arguments(entry.dims.size(), IndexType::get(context));
  for (const Input &input : entry.inputs)
    arguments.push_back(typeOf(input.type.axes, input.isTotal && input.type.element == Element::Real
                                                    ? Type(root.getF64Type()) // a sum over the whole batch
                                                    : storedType(input.type.element, input.type.pinned)));
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
    states.push_back(TypeAttr::get(tensorType(sizes, storedOf(state), entry.dims.size())));
  }
  function->setAttr("tenon.states", root.getArrayAttr(states));
  if (entry.slices > 1)
    function->setAttr(kSlices, root.getI64IntegerAttr(entry.slices));
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
  function->setAttr("tenon.walk",
                    root.getDictionaryAttr({root.getNamedAttr("position", root.getI64IntegerAttr(entry.positionState)),
                                            root.getNamedAttr("count", root.getI64IntegerAttr(count)),
                                            root.getNamedAttr("capacity", form(entry.capacity))}));
}

/// What contractions say of themselves: where it is what the module says anyway, nothing, so that a program of f32 has no mark.
void EntryGenerator::findComputeTypes() {
  if (!types.obeysWritten())
    return;
  static const std::map<std::string, std::string> none;
  const Type usual = types.compute ? types.compute : types.real;
  const auto computed = computeTypes(entry, program.params, types.exceptions ? program.computeOf : none);
  wide = wideNodes(entry, computed);
  for (auto &[node, name] : computed)
    if (Type type = elementNamed(name, context); type != usual && !wide.count(node))
      multiplied[node] = TypeAttr::get(type);
}

bool EntryGenerator::generate() {
  findComputeTypes();
  function = createFunction();
  root.setInsertionPointToStart(&function.getBody().front());
  written.assign(entry.states.size(), false);
  generateResults();
  if (failed)
    return false;
  writeStates(entry.nextStates, root, ~0u);
  copyUnwrittenStates();
  func::ReturnOp::create(root, UnknownLoc::get(context));
  return !failed;
}

/// `out`: the values, totals of slices and what is written f64 as f64. Losses: f64 scalars; a train entry puts their weighted sum
/// first.
void EntryGenerator::generateResults() {
  int64_t index = 0;
  auto output = [&](StringRef name, Value value, Type element, Location location) {
    OutputOp::create(root, location, index++, name, Build(root, location).convert(value, element));
  };
  if (entry.kind == Entry::Kind::Out) {
    for (auto &[name, node] : entry.results)
      if (Value result = value(node)) {
        const ValueType &type = entry.nodes[node].type;
        const Type element = entry.makesTotals         ? Type(root.getF64Type())
                             : isWideReal(type.pinned) ? storedType(type.element, type.pinned)
                                                       : elementType(type);
        output(name, result, element, locate(entry.nodes[node].range));
      }
    return;
  }
  SmallVector<std::pair<std::string, Value>> losses;
  SmallVector<Location> places;
  for (auto &[name, node] : entry.results) {
    Value result = value(node);
    if (!result)
      return;
    losses.emplace_back(name, result);
    places.push_back(locate(entry.nodes[node].range));
  }
  // The share of a slice in the number of the whole batch, so that slices add up.
  for (auto [loss, place, isSum] : llvm::zip(losses, places, entry.rowSums))
    if (!isSum)
      loss.second = Build(root, place).scale(loss.second, 1.0 / double(entry.slices));
  const Type wide = root.getF64Type();
  if (entry.kind == Entry::Kind::Train) {
    const Location whole = FusedLoc::get(context, places);
    Build build(root, whole);
    Value total;
    for (auto &[name, loss] : losses) {
      double weight = 1;
      for (auto &[weighted, factor] : entry.lossWeights.empty() ? program.lossWeights : entry.lossWeights)
        if (weighted == name)
          weight = factor;
      Value term = weight == 1 ? loss : build.scale(loss, weight);
      if (total && total.getType() != term.getType()) { // one of them is written f64
        total = build.convert(total, wide);
        term = build.convert(term, wide);
      }
      total = total ? build.add(total, term) : term;
    }
    output("loss", total, wide, whole);
  }
  for (auto [loss, place] : llvm::zip(losses, places))
    output(loss.first, loss.second, wide, place);
  for (size_t i = 0; i < entry.parts.size(); ++i)
    if (Value part = value(entry.parts[i])) {
      const Node &node = entry.nodes[entry.parts[i]];
      output(partName(i), part, elementType(node.type), locate(node.range));
    }
}

/// The words on parameters, by their numbers: of each one all entries have the same.
static std::vector<std::string> writtenOnParameters(const Program &program) {
  std::vector<std::string> written(program.params.size());
  for (const Entry &entry : program.entries)
    for (const Node &node : entry.nodes)
      if (node.op == Op::Param)
        written[node.index] = node.type.pinned;
  return written;
}

static void declareParameters(const Program &program, ModuleOp module, const ModuleTypes &types) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  const Type wide = builder.getF64Type(), usual = types.parameters == wide ? wide : types.real;
  const std::vector<std::string> written = writtenOnParameters(program);
  for (auto [number, param] : llvm::enumerate(program.params)) {
    const bool isWhole = types.obeysWritten() && isUsualReal(written[number]);
    const Type element = isWhole ? types.real : types.obeysWritten() && isWideReal(written[number]) ? wide : usual;
    SmallVector<int64_t> shape(param.stackCounts.begin(), param.stackCounts.end());
    shape.append(param.shape.begin(), param.shape.end());
    auto policy = program.policies.find(param.path);
    bool frozen = policy != program.policies.end() && policy->second.frozen;
    auto op = ParameterOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(param.path),
                                  TypeAttr::get(RankedTensorType::get(shape, element)), builder.getI64IntegerAttr(0),
                                  builder.getI64IntegerAttr(0), param.stackCounts.empty() ? UnitAttr() : builder.getUnitAttr(),
                                  frozen ? builder.getUnitAttr() : UnitAttr(),
                                  builder.getI64IntegerAttr(std::max<size_t>(param.stackCounts.size(), 1)));
    if (isWhole && types.parameters && !types.remainders && !isComputed(types.parameters))
      op->setAttr(kWhole, builder.getUnitAttr());
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

OwningOpRef<ModuleOp> generateModule(const Program &program, const SourceFiles &sources, const ModuleTypes &types,
                                     Diagnostics &diagnostics) {
  for (const Entry &entry : program.entries)
    reportUnsupported(entry, diagnostics);
  if (diagnostics.hasErrors())
    return {};
  MLIRContext *context = types.real.getContext();
  context->loadDialect<TenonDialect, func::FuncDialect, arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  for (auto [name, type] :
       {std::pair(kCompute, types.compute), std::pair(kReduce, types.reduce), std::pair(kParameters, types.parameters),
        std::pair(kRemainders, types.remainders ? remainderType(context) : Type())})
    if (type && (name == kReduce || !isComputed(type))) // parameters of f64 say so themselves
      (*module)->setAttr(name, TypeAttr::get(type));
  declareParameters(program, *module, types);
  for (const Entry &entry : program.entries)
    if (!EntryGenerator(program, entry, sources, *module, types, diagnostics).generate())
      return {};
  return module;
}

} // namespace tenon
