// A target: all that the compiler asks of the machine that it compiles for, from the selection of kernels to the code and the
// manifest of the artifact. A target has a folder and a library of its own; Targets.cpp alone includes it, and what was compiled
// for it beforehand. By its name the CPU is the default of options and commands (Compile.h, Pipelines.h,
// tools/compiler/CommandLine.h), and the runtime opens a device.
#pragma once
#include "dialect/TenonDialect.h"
#include "lowering/target/KernelNeeds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace tenon {

class KernelLibrary;
class PassFlags;
struct ScheduledEntry;

/// How the contractions of a target read a matrix best (tenon.parameter, panels).
struct PanelForm {
  int64_t width, steps;
  int64_t lines;    ///< a panel has a multiple of so many
  int64_t mostRows; ///< of a contraction that reads panels: with more, packing a row-major weight takes less time
};

/// The machine whose processor runs the entries of an artifact.
struct HostPlatform {
  llvm::StringLiteral triple;
  llvm::StringLiteral cpu;                        ///< LLVM's -mcpu of what every such machine has
  int64_t vectorBits;                             ///< of its registers
  llvm::SmallVector<llvm::StringLiteral> folders; ///< in which the linker finds the C library, those that are there
  void (*correct)(llvm::Module &);                ///< what LLVM makes wrong of optimised code for it
};

enum class CodeForm { Llvm, Assembly, Object };

struct CodeResult {
  std::string data;
  std::string error; // empty: none
};

/// One file of code, whose making is put off until all parts of the artifact are known: then they are made at the same time.
struct CodePart {
  std::string name; // in the name of its object file, and in messages
  /// Called once, in any thread. An object is one for the host's linker, whatever it holds for another machine.
  std::function<CodeResult(CodeForm)> make;
};

/// What a machine does at most, in f32: reports estimate the shares of kernels by it, whatever their types are.
struct Roofline {
  llvm::StringLiteral machine;
  int64_t flopsPerSecond, bytesPerSecond;
};

/// What a target makes of a program.
struct ArtifactParts {
  struct Variant {
    std::string name;
    std::vector<std::string> runs; // symbols of TnRun (runtime/include/tenon/artifact.h), one per entry
  };
  std::vector<Variant> variants;
  std::vector<CodePart> code;
  std::vector<std::string> modules; // symbols of TnModule, which parts of the code define
};

struct CodeOptions {
  std::vector<std::string> variants;      // of Target::variants(), in its order
  PassFlags *flags = nullptr;             // MLIR's own, if any were given
  std::string kernelDirectory;            // where LLVM's code of kernels for another machine is kept, by its hash; empty: nowhere
  const KernelLibrary *library = nullptr; // kernels that need not be made again; null: all are
  /// Of tests: changes the LLVM code of a variant before it is optimised.
  std::function<void(llvm::Module &, llvm::StringRef variant)> edit = {};
  /// Of tests: the variant for whose machine the code of another one is made; null: its own.
  std::function<llvm::StringRef(llvm::StringRef variant)> machine = {};
  /// Of tests: whether code of a variant is made in less time, as all is by PassFlags::quick; null: no.
  std::function<bool(llvm::StringRef variant)> quick = {};
};

/// In place of a variant's name: the best one of those made by default that the machine has.
constexpr llvm::StringLiteral kBestVariant = "best";

/// Stateless: one object serves all compilations.
class Target {
public:
  virtual ~Target() = default;
  virtual llvm::StringRef name() const = 0;
  /// The machines that its code is for, in the help of the commands.
  virtual llvm::StringRef machines() const = 0;

  // Before there is code.
  /// What its kernels need in the context of the module: dialects, interfaces attached to the ops.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Passes and pipelines of its own, for tenon-opt.
  virtual void registerPasses() const {}
  /// Why it has no kernel for the op, or nothing. What it refuses is decomposed where that is possible.
  virtual std::optional<std::string> refuses(KernelOpInterface kernel) const = 0;
  /// The most that its contractions compute, in additions, where they read an element of an operand; each may do it once per
  /// block of columns. What costs more is made in memory before; with 0 what is joined as well, whose parts are else read where
  /// they lie.
  virtual unsigned mostCostOfOperand() const { return 6; }
  /// Whether its contractions leave out the rows and steps that a condition names (tenon.dot_where), and its nests the rows that
  /// are read under a condition alone, where it fails (tenon.row_if).
  virtual bool leavesProductsOut() const { return true; }
  /// Whether elementwise kernels wait for memory rather than for arithmetic: reading a tensor of the same size once more costs
  /// them more than computing an element again at the price of two additions, or taking part in a pass over its row. Then passes
  /// over rows compute such elements where they read them, nests that read the same tensor become one (JoinNests.h), carries
  /// are delivered by nests that can be one with others, and what contractions read is saved for the backward pass, however
  /// cheap it is to make. Else a value that several passes read is made once, and each nest is a kernel of its own.
  virtual bool waitsForMemory() const = 0;
  /// What it chooses for a kernel op of an entry: a form and its numbers for each variant of the code (Choice.h). Null: nothing
  /// is chosen.
  virtual mlir::DictionaryAttr choose(KernelOpInterface kernel) const { return {}; }
  /// Whose choice the code of a variant follows, of a kernel for which nothing is chosen under the variant's own name.
  virtual std::string sharesChoiceOf(llvm::StringRef variant) const { return variant.str(); }
  /// How many loops may be in each other. Nothing: any number.
  virtual std::optional<int64_t> mostLoops() const { return std::nullopt; }
  /// The tensors over which the kernel may write a result: what the op says (KernelOpInterface), or more.
  virtual llvm::SmallVector<mlir::Value> overwritable(KernelOpInterface kernel, unsigned result) const {
    return kernel.overwritable(result);
  }
  /// Whether it chooses products of tf32 for contractions of f32 where the module says so (kRoundsFactors).
  virtual bool roundsFactors() const { return false; }
  /// Of a kernel op of an entry, by what is chosen for it. Fails where the target has no kernel for it, with the reason reported
  /// at the op.
  virtual mlir::FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const = 0;

  // Code. A variant is all code of a program for some of the target's machines.
  /// The names of all variants, from the least to the most demanding one, each of which demands what those before it do.
  virtual std::vector<std::string> variants() const = 0;
  /// Those that have code of their own for the module, which are made by default.
  virtual std::vector<std::string> variantsOf(mlir::ModuleOp module) const = 0;
  /// The entries' functions TnRun and what they call, for the variants of the options. The module holds the tenon.parameter ops
  /// and is not changed. Errors are reported at ops.
  virtual mlir::LogicalResult emit(mlir::ModuleOp module, llvm::ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                                   ArtifactParts &parts) const = 0;

  /// Where entries run, the CPU's or another device's.
  virtual const HostPlatform &host() const = 0;

  // In the manifest.
  virtual llvm::StringRef triple() const = 0;
  /// The device of the runtime that runs the code (Device::name, runtime/device/Device.h).
  virtual llvm::StringRef device() const = 0;
  /// Of a usual one of its machines.
  virtual Roofline roofline() const = 0;

  // Weights in memory.
  /// The panels in which its contractions read weights of this element type, in all variants; nothing: row-major.
  virtual std::optional<PanelForm> panelsOf(mlir::Type element) const { return std::nullopt; }
  /// Whether the parameters of a module that lie in panels lie in these; reported at the first one that does not. Its emission
  /// asks, for what was written by hand: kernels take it for granted.
  mlir::LogicalResult verifyPanels(mlir::ModuleOp module) const;

  /// The variants to emit where `wanted` ones were asked for, by name or kBestVariant; without: variantsOf. `machineBest`: the
  /// most demanding one that the machine can run.
  std::vector<std::string> chooseVariants(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                                          llvm::StringRef machineBest) const;
};

/// The target of this name, or null. Targets are there for the whole run of the program.
const Target *findTarget(llvm::StringRef name);
void registerTarget(const Target &target);
llvm::ArrayRef<const Target *> knownTargets();

/// "a, b or c".
std::string alternatives(llvm::ArrayRef<std::string> names);

} // namespace tenon
