// The optimizer step at the end of a differentiated function. See Passes.td.
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_ADDOPTIMIZER
#include "lowering/Passes.h.inc"

namespace {

constexpr StringLiteral kOptimizer = "tenon.optimizer";

/// NaN in the decay of a parameter means the optimizer's own.
void setOwnDecay(ModuleOp module, const schema::OptimizerRule &rule, DictionaryAttr settings) {
  for (auto parameter : module.getOps<ParameterOp>())
    if (auto decay = parameter->getAttrOfType<DenseF64ArrayAttr>("decay")) {
      SmallVector<double> values(decay.asArrayRef());
      for (double &value : values)
        value = std::isnan(value) ? ownDecay(rule, settings, parameter) : value;
      parameter->setAttr("decay", DenseF64ArrayAttr::get(module.getContext(), values));
    }
}

LogicalResult addOptimizer(func::FuncOp function) {
  auto described = function->getAttrOfType<DictionaryAttr>(kOptimizer);
  auto rule = described ? described.getAs<StringAttr>("rule") : StringAttr();
  auto settings = described ? described.getAs<DictionaryAttr>("settings") : DictionaryAttr();
  if (!rule || !settings)
    return function.emitOpError("expects a rule and settings as tenon.optimizer, got ") << function->getAttr(kOptimizer); // P3
  if (!function.walk([](WriteGradientOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return function.emitOpError("has an optimizer and no gradient; tenon-differentiate comes first"); // P4
  if (const schema::OptimizerRule *row = schema::findOptimizer(rule.getValue())) // else the op's verifier says so
    setOwnDecay(function->getParentOfType<ModuleOp>(), *row, settings);
  Block &block = function.getBody().front();
  int64_t outputs = llvm::range_size(block.getOps<OutputOp>());
  OpBuilder builder(block.getTerminator());
  auto scalar = RankedTensorType::get({}, scalarReal(builder.getContext()));
  auto written = described.getAs<LocationAttr>("location");
  const Location location = written ? Location(written) : function.getLoc();
  auto op = OptimizeOp::create(builder, location, scalar, scalar, rule, settings);
  OutputOp::create(builder, location, outputs, "grad_norm", op.getNorm());
  OutputOp::create(builder, location, outputs + 1, "learning_rate", op.getRate());
  function->removeAttr(kOptimizer); // a second run adds nothing
  return success();
}

/// What no train function of several names stays as it is.
void freezeUnnamed(ModuleOp module) {
  llvm::StringSet<> named;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto trained = function->getAttrOfType<ArrayAttr>(kTrained))
      for (StringRef name : trained.getAsValueRange<StringAttr>())
        named.insert(name);
  for (auto parameter : module.getOps<ParameterOp>())
    if (!named.empty() && !named.contains(parameter.getSymName()))
      parameter.setFrozen(true);
}

struct AddOptimizer : impl::AddOptimizerBase<AddOptimizer> {
  void runOnOperation() override {
    freezeUnnamed(getOperation());
    func::FuncOp first;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(kOptimizer))
        continue;
      if (first && !function->hasAttr(kTrained)) {
        function.emitOpError("has an optimizer, as @") << first.getSymName() << " has: the parameters of a module have one"; // P5
        return signalPassFailure();
      }
      first = function;
      if (failed(addOptimizer(function)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tenon
