#include "lowering/schedule/Target.h"

namespace tenon {

static llvm::SmallVector<const Target *> &targets() {
  static llvm::SmallVector<const Target *> all;
  return all;
}

const Target *findTarget(llvm::StringRef name) {
  for (const Target *target : targets())
    if (target->name() == name)
      return target;
  return nullptr;
}

void registerTarget(const Target &target) {
  if (!findTarget(target.name()))
    targets().push_back(&target);
}

} // namespace tenon
