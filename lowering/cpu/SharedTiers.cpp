#include "lowering/cpu/SharedTiers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

bool isEntry(Operation &op) {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  return function && function.getName().starts_with("tn_run_");
}

void forSymbols(Operation *op, llvm::function_ref<void(StringRef)> use) {
  if (std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(op))
    for (const SymbolTable::SymbolUse &each : *uses)
      use(each.getSymbolRef().getRootReference().getValue());
}

/// What has the same code in two modules.
class Comparison {
public:
  Comparison(ModuleOp left, ModuleOp right) : left(left), right(right) {}

  bool same(StringRef name) {
    auto [known, isNew] = found.try_emplace(name, true); // a function that calls itself is what the rest of it is
    if (!isNew)
      return known->second;
    Operation *a = left.lookup(name), *b = right.lookup(name);
    bool good = a && b && a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
                llvm::all_of(llvm::zip(a->getRegions(), b->getRegions()), [](auto pair) {
                  return OperationEquivalence::isRegionEquivalentTo(&std::get<0>(pair), &std::get<1>(pair),
                                                                    OperationEquivalence::IgnoreLocations);
                });
    if (good)
      forSymbols(a, [&](StringRef callee) { good = good && same(callee); });
    return found[name] = good;
  }

private:
  SymbolTable left, right;
  llvm::StringMap<bool> found;
};

void dropUnreached(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::StringSet<> reached;
  SmallVector<Operation *> next;
  for (Operation &op : *module.getBody())
    if (isEntry(op))
      next.push_back(&op);
  while (!next.empty())
    forSymbols(next.pop_back_val(), [&](StringRef name) {
      if (Operation *op = symbols.lookup(name); op && reached.insert(name).second)
        next.push_back(op);
    });
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && !isEntry(op) && !reached.contains(symbol.getName()))
      op.erase();
}

} // namespace

void shareCode(ModuleOp module, ModuleOp base, llvm::StringSet<> &shared) {
  Comparison comparison(module, base);
  llvm::StringSet<> called;
  for (Operation &op : *module.getBody())
    if (isEntry(op))
      forSymbols(&op, [&](StringRef name) { called.insert(name); });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (called.contains(function.getName()) && !function.isExternal() && comparison.same(function.getName())) {
      shared.insert(function.getName());
      function.eraseBody();
      function.setLinkage(LLVM::Linkage::External);
    }
  dropUnreached(module);
}

} // namespace tenon::cpu
