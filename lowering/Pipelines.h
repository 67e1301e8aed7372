// The named pipelines: what runs after what, and no logic. Compile.cpp runs them over the module, tenon-opt offers them by name:
// there is no second order.
#pragma once
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace tenon {

struct FormOptions : mlir::PassPipelineOptions<FormOptions> {
  Option<bool> decomposed{*this, "decomposed",
                          llvm::cl::desc("no fused op and no fusion of kernels: the path that tests compare with"),
                          llvm::cl::init(false)};
  Option<bool> simpleKernels{
      *this, "simple-kernels",
      llvm::cl::desc(
          "kernels of their own (attention, running sums) taken apart behind differentiation: what a new target begins with"),
      llvm::cl::init(false)};
  Option<std::string> target{*this, "target", llvm::cl::desc("whose kernels are to run"), llvm::cl::init("cpu")};
};

/// A pipeline over the module between two texts of `tenon compile --emit`.
struct Stage {
  llvm::StringLiteral pipeline; // tenon-fuse-pipeline
  llvm::StringLiteral result;   // fused
  llvm::StringLiteral summary;
  void (*build)(mlir::OpPassManager &module, const FormOptions &options);
};
/// From what the frontend makes (`tenon`) to the schedule form, in order. All but the last in a row are
/// tenon-kernel-form-pipeline.
llvm::ArrayRef<Stage> stages();

/// All but those of targets (Targets.h).
void registerTenonPipelines();

} // namespace tenon
