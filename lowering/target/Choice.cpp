#include "lowering/target/Choice.h"
#include "lowering/target/Rows.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {

DictionaryAttr makeChoice(MLIRContext *context, StringRef form, ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  Builder builder(context);
  NamedAttrList all;
  all.set("form", builder.getStringAttr(form));
  for (auto [name, value] : numbers)
    all.set(name, builder.getI64IntegerAttr(value));
  return all.getDictionary(context);
}

template <class Named> static std::string namesOf(ArrayRef<Named> all) {
  std::vector<std::string> names;
  for (const Named &one : all)
    names.push_back(one.name.str());
  return alternatives(names);
}

static LogicalResult checkNumber(Operation *op, StringRef variant, const ChoiceNumber &number, int64_t value) {
  const bool isStep = number.isPower ? value > 0 && llvm::isPowerOf2_64(uint64_t(value)) : value % number.step == 0;
  if (value >= number.least && value <= number.most && isStep)
    return success();
  InFlightDiagnostic report = op->emitOpError("expects ")
                              << number.name << " for " << variant << " from " << number.least << " to " << number.most; // S10
  if (number.isPower)
    report << ", a power of 2";
  else if (number.step > 1)
    report << " in steps of " << number.step;
  return report << ", got " << value;
}

FailureOr<Choice> choiceFor(Operation *op, StringRef variant, ArrayRef<ChoiceForm> forms) {
  auto chosen = op->getAttrOfType<DictionaryAttr>(kChosen);
  auto given = chosen ? chosen.getAs<DictionaryAttr>(variant) : DictionaryAttr();
  auto name = given ? given.getAs<StringAttr>("form") : StringAttr();
  if (!name)
    return op->emitOpError("expects the form that is chosen for ")
           << variant << " in " << kChosen << ", which tenon-schedule writes"; // S8
  const ChoiceForm *form = llvm::find_if(forms, [&](const ChoiceForm &one) { return one.name == name.getValue(); });
  if (form == forms.end())
    return op->emitOpError("expects as form for ") << variant << " " << namesOf(forms) << ", got " << name.getValue(); // S9
  for (NamedAttribute one : given)
    if (one.getName() != "form" &&
        llvm::none_of(form->numbers, [&](const ChoiceNumber &number) { return number.name == one.getName(); }))
      return op->emitOpError("expects of ") << form->name << " for " << variant << " the number "
                                            << namesOf(ArrayRef<ChoiceNumber>(form->numbers)) << ", got "
                                            << one.getName().getValue(); // S9
  for (const ChoiceNumber &number : form->numbers) {
    if (number.isOptional && !given.contains(number.name))
      continue;
    auto value = given.getAs<IntegerAttr>(number.name);
    if (!value || !value.getType().isSignlessInteger(64))
      return op->emitOpError("expects of ") << form->name << " for " << variant << " its " << number.name
                                            << " as i64, got none"; // S9
    if (failed(checkNumber(op, variant, number, value.getInt())))
      return failure();
  }
  return Choice{given};
}

void chooseKernels(func::FuncOp entry, const Target &target) {
  entry.walk([&](KernelOpInterface kernel) {
    if (kernel->hasAttr(kChosen))
      return;
    NamedAttrList chosen(target.choose(kernel));
    if (Attribute rows = chosen.erase(kRowSteps))
      kernel->setAttr(kRowSteps, rows);
    if (!chosen.empty())
      kernel->setAttr(kChosen, chosen.getDictionary(kernel.getContext()));
  });
}

} // namespace tenon
