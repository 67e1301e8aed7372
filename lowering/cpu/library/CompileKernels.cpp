// Compiles the library kernels of a tier, while the compiler is built:
//   tenon-compile-kernels TIER OBJECT NAMES
// or prints their optimised LLVM code:
//   tenon-compile-kernels TIER
#include "lowering/artifact/HostCode.h"
#include "lowering/cpu/EmitTier.h"
#include "lowering/cpu/KernelDialects.h"
#include "lowering/cpu/LibraryKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

namespace {

int fail(const llvm::Twine &message) {
  llvm::errs() << "tenon-compile-kernels: " << message << "\n";
  return 1;
}

int write(llvm::StringRef path, llvm::StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << content;
    file.close();
    error = file.error();
    file.clear_error();
  }
  return error ? fail("cannot write " + path + ": " + error.message()) : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2 && argc != 4)
    return fail("expects TIER, or TIER OBJECT NAMES");
  std::optional<cpu::Tier> tier = cpu::tierOfPublicName(argv[1]);
  if (!tier)
    return fail(llvm::Twine("unknown tier ") + argv[1]);
  mlir::DialectRegistry registry;
  cpu::registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  cpu::addLibraryKernels(*module, *tier);
  std::string names;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    names += (function.getName() + "\n").str();
  std::shared_ptr<HostModule> code = translateForHost(*module, argv[1], nullptr, [](llvm::StringRef) { return true; });
  if (!code)
    return 1; // the translation has said why
  const bool isText = argc == 2;
  const CodeResult result = compileForHost(*code, cpu::machineOf(*tier), isText ? CodeForm::Llvm : CodeForm::Object);
  if (!result.error.empty())
    return fail(result.error);
  if (isText) {
    llvm::outs() << result.data;
    return 0;
  }
  const int failed = write(argv[2], result.data);
  return failed ? failed : write(argv[3], names);
}
