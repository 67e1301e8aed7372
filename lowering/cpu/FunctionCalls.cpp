#include "lowering/cpu/FunctionCalls.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

struct FunctionRow {
  llvm::StringLiteral op, library, number;
};
constexpr FunctionRow kFunctions[] = {
#define TENON_FUNCTION(name, library, real, wide, picoseconds) {math::name::getOperationName(), #library, #library "_calls"},
#include "lowering/code/Functions.def"
};

/// Calls of one kind in a straight line from which on they share a function: copies cost compile time and size, calls the
/// constants that a loop keeps in registers.
constexpr int64_t kManyCalls = 16;

const FunctionRow *rowOf(Operation &op) {
  const StringRef name = op.getName().getStringRef();
  const FunctionRow *row = llvm::find_if(kFunctions, [&](const FunctionRow &one) { return one.op == name; });
  return row == std::end(kFunctions) ? nullptr : row;
}

/// Calls `each` for the functions in a kernel that may be called or not, with how often the straight line around it has it.
void walkFunctions(Operation *kernel, Tier tier, llvm::function_ref<void(const FunctionRow &, int64_t)> each) {
  kernel->walk([&](Block *block) {
    llvm::StringMap<int64_t> count;
    for (Operation &op : *block)
      ++count[op.getName().getStringRef()];
    for (Operation &op : *block)
      if (const FunctionRow *row = rowOf(op); row && !callsLibrary(tier, getElementTypeOrSelf(op.getOperand(0).getType())))
        each(*row, count.lookup(row->op));
  });
}

} // namespace

StringRef libraryName(Operation &op) {
  const FunctionRow *row = rowOf(op);
  return row ? StringRef(row->library) : StringRef();
}

StringRef callsNumber(Operation &op) {
  const FunctionRow *row = rowOf(op);
  return row ? StringRef(row->number) : StringRef();
}

bool callsLibrary(Tier tier, Type element) { return element.isF64() || tier == Tier::Portable; }

SmallVector<ChoiceNumber> callNumbers(Operation *kernel, Tier tier) {
  SmallVector<ChoiceNumber> numbers;
  walkFunctions(kernel, tier, [&](const FunctionRow &row, int64_t) {
    if (llvm::none_of(numbers, [&](const ChoiceNumber &number) { return number.name == row.number; }))
      numbers.push_back({row.number, 0, 1, 1, false, /*isOptional=*/true});
  });
  return numbers;
}

DictionaryAttr withCalls(DictionaryAttr choice, Operation *kernel, Tier tier) {
  NamedAttrList all(choice);
  walkFunctions(kernel, tier, [&](const FunctionRow &row, int64_t count) {
    if (count > kManyCalls)
      all.set(row.number, IntegerAttr::get(IntegerType::get(kernel->getContext(), 64), 1));
  });
  return all.getDictionary(kernel->getContext());
}

} // namespace tenon::cpu
