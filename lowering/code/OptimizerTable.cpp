#include "lowering/code/OptimizerTable.h"
#include "dialect/ElementModel.h"
#include "dialect/FactoredMoments.h"
#include "dialect/OptimizeSettings.h"
#include "dialect/Refusal.h"
#include "dialect/StoredParameter.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace tenon {

bool OptimizerSegment::continues(const OptimizerSegment &before, int64_t bytes) const {
  return before.offset + before.count * bytes == offset && before.rate == rate && before.gradient == gradient &&
         before.decay == decay && before.norm == norm && before.lines == lines && before.columns == columns;
}

namespace {

class Tabulator {
public:
  explicit Tabulator(OptimizeOp op) : op(op), ofTensor(op.number("clip_tensor", 0)) {
    table.bounds.push_back(op.number("clip", 0));
    table.perTensor = ruleOf(op).isFactored() || formOf(op).trust != schema::Trust::None || settingOf(op, "clip_each") > 0;
    if (ruleOf(op).isFactored())
      moments = factoredMoments(op->getParentOfType<ModuleOp>(), int64_t(settingOf(op, "min_dim_size_to_factor")));
  }

  LogicalResult add(ParameterOp parameter) {
    RankedTensorType type = parameter.getType();
    OptimizerPart &part = table.parts.back();
    if (!isComputed(part.element))
      return notSupported(parameter) << "an optimizer for " << part.element;
    const ArrayRef<int64_t> sizes = type.getShape().drop_front(parameter.depthCount());
    int64_t lines = 0, columns = 0;
    if (std::optional<Panels> panels = Panels::of(parameter)) {
      // A vector of the pass lies along the last dimensions, which panels cut; how many these are is of no account.
      if (panels->transposed || (part.panels && (part.panels->width != panels->width || part.panels->steps != panels->steps)))
        return notSupported(parameter)
               << "an optimizer for a parameter in panels along its first dimensions, or in several widths";
      part.panels = panels;
      lines = panels->linesOf(sizes);
      columns = panels->columnsOf(sizes);
    }
    const int64_t copies = parameter.stackElements(), count = type.getNumElements() / std::max<int64_t>(copies, 1);
    for (int64_t copy = 0; copy < copies; ++copy) {
      if (isFrozenAt(parameter, copy))
        continue;
      OptimizerSegment next{int64_t(parameter.getOffset()) + copy * int64_t(parameter.getStride()),
                            count,
                            factor(parameter, "lr", copy, 1),
                            factor(parameter, "gradient", copy, 1),
                            factor(parameter, "decay", copy, ownDecay(ruleOf(op), op.getSettings(), parameter)),
                            normOf(parameter, copy),
                            lines,
                            columns,
                            meansOf(parameter, copy)};
      if (copy > 0 && !table.perTensor && !table.segments.empty() &&
          next.continues(table.segments.back(), elementBytes(part.element)))
        table.segments.back().count += count;
      else
        table.segments.push_back(next);
    }
    part.count = table.segments.size() - part.first;
    return success();
  }

  /// The part that the parameter belongs to, and nothing before it does.
  void startPart(ParameterOp parameter) {
    auto module = parameter->getParentOfType<ModuleOp>();
    table.parts.push_back({parameter.getType().getElementType(),
                           storedType(parameter),
                           copyTypeOf(parameter),
                           isSplit(parameter),
                           arenaPart(parameterType(module)),
                           {},
                           table.segments.size(),
                           0});
  }
  static bool belongsTo(ParameterOp parameter, const OptimizerPart &part) {
    return parameter.getType().getElementType() == part.element && storedType(parameter) == part.stored;
  }

  OptimizerTable table;

private:
  static double factor(ParameterOp parameter, StringRef name, int64_t copy, double otherwise) {
    auto values = parameter->getAttrOfType<DenseF64ArrayAttr>(name);
    return !values ? otherwise : values[values.size() == 1 ? 0 : copy];
  }
  /// Parameters of one group share a norm; where the bound uses the depth, each depth is a group.
  int64_t normOf(ParameterOp parameter, int64_t copy) {
    const double bound = factor(parameter, "clip", copy, std::nan(""));
    if (std::isnan(bound)) {
      if (ofTensor > 0)
        table.bounds.push_back(ofTensor);
      return ofTensor > 0 ? int64_t(table.bounds.size()) - 1 : 0;
    }
    auto [place, isNew] = norms.try_emplace({factor(parameter, "clip_group", copy, 0), bound}, int64_t(table.bounds.size()));
    if (isNew)
      table.bounds.push_back(bound);
    return place->second;
  }

  /// Where there are none, the rule keeps others.
  OptimizerSegment::Means meansOf(ParameterOp parameter, int64_t copy) const {
    const auto found = llvm::find_if(moments, [&](const FactoredMoment &each) { return each.parameter == parameter; });
    if (found == moments.end())
      return {0, 0, 0, 0};
    const int64_t place = found->offset + copy * found->stride;
    return {place, place + found->columnsOffset, found->rows, found->columns};
  }

  OptimizeOp op;
  std::vector<FactoredMoment> moments;
  const double ofTensor; // bound of the norm of each tensor alone; 0: none
  std::map<std::pair<double, double>, int64_t> norms;
};

} // namespace

FailureOr<OptimizerTable> tabulate(OptimizeOp op, const ParameterTable &parameters) {
  std::map<int64_t, ParameterOp> byOffset;
  for (const auto &entry : parameters) {
    ParameterOp parameter = entry.getValue();
    if (isTrainedBy(op, parameter))
      byOffset[parameter.getOffset()] = parameter;
  }
  Tabulator tabulator(op);
  while (!byOffset.empty()) {
    tabulator.startPart(byOffset.begin()->second);
    for (auto each = byOffset.begin(); each != byOffset.end();) {
      ParameterOp parameter = each->second;
      if (!Tabulator::belongsTo(parameter, tabulator.table.parts.back())) {
        ++each;
        continue;
      }
      if (failed(tabulator.add(parameter)))
        return failure();
      each = byOffset.erase(each);
    }
  }
  if (tabulator.table.segments.empty())
    return op.emitError("expects a parameter to train, got none"); // S18
  return std::move(tabulator.table);
}

} // namespace tenon
