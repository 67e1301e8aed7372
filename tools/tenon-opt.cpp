// mlir-opt with the dialect `tenon`, its passes and the upstream passes its pipelines name.
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<tenon::TenonDialect>();
  mlir::registerAllPasses();
  tenon::registerTenonLoweringPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tenon optimizer driver", registry));
}
