// mlir-opt with the dialect `tenon`, its passes and pipelines, and the upstream passes they name.
#include "lowering/Passes.h"
#include "lowering/Pipelines.h"
#include "lowering/cpu/EmitTier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  tenon::cpu::registerCpu(registry);
  mlir::registerAllPasses();
  tenon::registerTenonLoweringPasses();
  tenon::registerTenonPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tenon optimizer driver", registry));
}
