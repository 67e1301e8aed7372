// mlir-opt with the dialect `tenon`, its passes and pipelines, and the upstream passes they name.
#include "lowering/Passes.h"
#include "lowering/Pipelines.h"
#include "lowering/Targets.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  tenon::registerTargets(registry);
  mlir::registerAllPasses();
  tenon::registerTenonLoweringPasses();
  tenon::registerTenonPipelines();
  tenon::registerTargetPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tenon optimizer driver", registry));
}
