#include "lowering/target/KernelLibrary.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace tenon {

KernelLibrary::KernelLibrary(llvm::ArrayRef<Part> all) : parts(all.begin(), all.end()) {
  for (const Part &part : parts) {
    llvm::SmallVector<llvm::StringRef> functions;
    part.functions.split(functions, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef function : functions) {
      [[maybe_unused]] const bool isNew = owners.try_emplace(function, &part).second;
      assert(isNew && "a name stands for one code");
    }
  }
}

DictionaryAttr KernelLibrary::names(MLIRContext *context) const {
  llvm::SmallVector<NamedAttribute> names;
  for (llvm::StringRef function : owners.keys())
    names.emplace_back(StringAttr::get(context, function), UnitAttr::get(context));
  return DictionaryAttr::get(context, names);
}

} // namespace tenon
