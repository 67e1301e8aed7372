#include "lowering/Pipelines.h"
#include "lowering/Passes.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/kernel/ValuesInMemory.h"
#include "lowering/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tenon {

static void buildFusePipeline(OpPassManager &module, const FormOptions &options) {
  OpPassManager &function = module.nest<func::FuncOp>();
  function.addPass(createSimplify());
  function.addPass(createLastLayer());
  if (!options.decomposed)
    function.addPass(createFuseAttention());
  // What was not recognised runs in parts; `decomposed` takes every fused op apart.
  function.addPass(createDecompose({options.decomposed ? "" : "attend"}));
  function.addPass(createSimplify());
  if (!options.decomposed)
    function.addPass(createContractWhere());
}

static void buildTrainPipeline(OpPassManager &module, const FormOptions &options) {
  const Target *target = findTarget(options.target.getValue()); // null: reported where kernels are selected
  module.addNestedPass<func::FuncOp>(createDifferentiate({/*saveOperands=*/target && target->waitsForMemory()}));
  module.addPass(createAddOptimizer());
  module.addNestedPass<func::FuncOp>(createSimplify({/*afterDifferentiation=*/true}));
}

static void buildKernelPipeline(OpPassManager &module, const FormOptions &options) {
  OpPassManager &function = module.nest<func::FuncOp>();
  DecomposeForTargetOptions apart;
  apart.target = options.target.getValue();
  if (options.simpleKernels)
    apart.without = {"all"};
  function.addPass(createDecomposeForTarget(apart));
  function.addPass(createApplyNumerics());
  function.addPass(createRecomputeBlocks());
  function.addPass(createCSEPass());
  function.addPass(createSelectKernels({/*fuse=*/!options.decomposed, options.target.getValue()}));
  function.addPass(createCSEPass());
  PanelParametersOptions panels;
  panels.target = options.target.getValue();
  panels.pack = !options.decomposed && !options.simpleKernels; // kernels of the closed list alone
  module.addPass(createPanelParameters(panels));
  module.addPass(createPlaceParameters());
}

static void buildSchedulePipeline(OpPassManager &module, const FormOptions &options) {
  ScheduleOptions own;
  own.target = options.target.getValue();
  module.addNestedPass<func::FuncOp>(createSchedule(own));
}

ArrayRef<Stage> stages() {
  static const Stage all[] = {
      {"tenon-fuse-pipeline", "fused", "the frontend's output to a tensor form with fused attention", buildFusePipeline},
      {"tenon-train-pipeline", "grad", "gradients and the optimizer", buildTrainPipeline},
      {"tenon-kernel-pipeline", "kernel", "tensor form to kernel form, parameters placed", buildKernelPipeline},
      {"tenon-schedule-pipeline", "schedule", "kernel form to schedule form: everything has a place and an order",
       buildSchedulePipeline},
  };
  return all;
}

void registerTenonPipelines() {
  for (const Stage &stage : stages())
    PassPipelineRegistration<FormOptions>(stage.pipeline, stage.summary, stage.build);
  PassPipelineRegistration<FormOptions>("tenon-kernel-form-pipeline", "the frontend's output to the kernel form",
                                        [](OpPassManager &module, const FormOptions &options) {
                                          for (const Stage &stage : stages().drop_back())
                                            stage.build(module, options);
                                        });
  PassPipelineRegistration<>("tenon-llvm-pipeline", "emitted functions to the LLVM dialect", buildLlvmPipeline);
}

} // namespace tenon
