#include "lowering/Rounding.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/ComputeTypes.h"

namespace tenon {

bool checkRounding(const Program &program, const Setting *given, ast::Range place, const Target &target,
                   Diagnostics &diagnostics) {
  if (!target.roundsFactors()) {
    diagnostics.error("T0690", place,
                      "not supported yet: `compute = tf32` on the target " + target.name().str() +
                          ", whose processors multiply f32 as fast",
                      std::string(runtime::nameOf(kUsualReal)).append(" or ").append(runtime::nameOf(runtime::DataType::BF16)) +
                          ", or a GPU as target");
    return false;
  }
  static const std::map<std::string, std::string> none;
  for (const Entry &entry : program.entries)
    for (const auto &[node, type] : computeTypes(entry, program.params, given ? program.computeOf : none))
      if (isUsualReal(type)) {
        diagnostics.error("T0690", entry.nodes[node].range,
                          "not supported yet: a contraction in f32 under `compute = tf32`, by which all of f32 are rounded",
                          "has to be f32");
        return false;
      }
  return true;
}

} // namespace tenon
