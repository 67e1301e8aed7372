#include "lowering/PassFlags.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace mlir;

namespace tenon {

std::unique_ptr<PassFlags> PassFlags::parse(const std::vector<std::string> &flags, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAsmPrinterCLOptions();
    registerMLIRContextCLOptions();
    registerPassManagerCLOptions();
    registerDefaultTimingManagerCLOptions();
  });
  llvm::cl::ResetAllOptionOccurrences();
  std::vector<const char *> words = {"tenon"};
  for (const std::string &flag : flags)
    words.push_back(flag.c_str());
  llvm::raw_string_ostream message(error);
  if (!llvm::cl::ParseCommandLineOptions(int(words.size()), words.data(), "", &message)) {
    StringRef sentence = StringRef(error).split('\n').first;
    sentence.consume_front("tenon: ");
    error = sentence.split("  Try: ").first.str();
    return nullptr;
  }
  std::unique_ptr<PassFlags> result(new PassFlags());
  applyDefaultTimingManagerCLOptions(result->timing);
  result->root = result->timing.getRootScope();
  return result;
}

LogicalResult PassFlags::run(PassManager &manager, Operation *op, const std::string &part) {
  TimingScope scope = root.nest(part);
  manager.enableTiming(scope);
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  return manager.run(op);
}

} // namespace tenon
