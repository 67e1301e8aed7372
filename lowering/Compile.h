// The whole compiler: specification to artifact, or to the text of one stage.
#pragma once
#include "frontend/ElementTypes.h"
#include "frontend/Sema.h"
#include <string>
#include <vector>

namespace tenon {

class KernelLibrary;

struct CompileRequest {
  CheckOptions check;
  std::string outputDirectory;        // artifact: created if missing
  std::string name;                   // libNAME.so
  std::string dtype = kUsualRealWord; // or kWideRealWord
  std::string numerics; // what is multiplied and saved, with dtype f32 (schema::factorsOfF32). Empty: what the recipe's policy
                        // says, else f32
  std::string target = "cpu";
  std::string kernelDirectory;       // CodeOptions::kernelDirectory
  bool grad = false;                 // an entry `grad` instead of the train step: losses and gradients, no optimizer
  bool decomposed = false;           // no fused op, no fusion of kernels: the path that tests compare with
  bool simpleKernels = false;        // fused ops are taken apart behind differentiation
  bool quick = false;                // LLVM's quickest code generation: the same bits, several times slower
  std::vector<std::string> variants; // code for these variants of the target only, as Target::chooseVariants has it
  std::string machineVariant;        // the best one of the machine
  /// tenon, fused, grad, kernel, schedule, llvm, asm: printed to standard output; obj, lib: files. Empty: lib.
  std::vector<std::string> emit;
  std::vector<std::string> mlirFlags; // --mlir-print-ir-after-all, --mlir-timing, ...
};

/// 0, or an exit code: 1 mistakes in the specification (in `diagnostics`), 2 a flag or target, 3 and 5 output files, 5 what the
/// machine lacks (a linker, memory), 70 a failure of the compiler itself (its message is printed).
int compile(const CompileRequest &request, SourceFiles &sources, Diagnostics &diagnostics);

/// The targets and the machines that each is for, as help says it.
std::string targetsText();

} // namespace tenon
