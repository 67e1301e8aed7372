#include "lowering/target/Choice.h"
#include "lowering/target/Rows.h"
#include "lowering/target/Target.h"

using namespace mlir;

namespace tenon {

DictionaryAttr makeChoice(MLIRContext *context, StringRef form, ArrayRef<std::pair<StringRef, int64_t>> numbers,
                          ArrayRef<ChosenList> lists) {
  Builder builder(context);
  NamedAttrList all;
  all.set("form", builder.getStringAttr(form));
  for (auto [name, value] : numbers)
    all.set(name, builder.getI64IntegerAttr(value));
  for (const auto &[name, values] : lists)
    if (!values.empty())
      all.set(name, builder.getDenseI64ArrayAttr(values));
  return all.getDictionary(context);
}

static std::string namesOf(ArrayRef<ChoiceForm> forms) {
  return alternatives(llvm::to_vector(llvm::map_range(forms, [](const ChoiceForm &one) { return one.name.str(); })));
}

/// Of what a form has, a number or a list.
static std::vector<std::string> namesOf(const ChoiceForm &form) {
  std::vector<std::string> names;
  for (const ChoiceNumber &number : form.numbers)
    names.push_back(number.name.str());
  for (const ChoiceList &list : form.lists)
    if (!list.numbers.empty())
      names.push_back(list.name.str());
  return names;
}

/// `name`: in messages.
static LogicalResult checkNumber(Operation *op, StringRef variant, const ChoiceNumber &number, const Twine &name, int64_t value) {
  const bool isStep = number.isPower ? value > 0 && llvm::isPowerOf2_64(uint64_t(value)) : value % number.step == 0;
  if (value >= number.least && value <= number.most && isStep)
    return success();
  InFlightDiagnostic report = op->emitOpError("expects ")
                              << name << " for " << variant << " from " << number.least << " to " << number.most; // S10
  if (number.isPower)
    report << ", a power of 2";
  else if (number.step > 1)
    report << " in steps of " << number.step;
  return report << ", got " << value;
}

static LogicalResult checkList(Operation *op, StringRef variant, const ChoiceForm &form, const ChoiceList &list,
                               DictionaryAttr given) {
  if (list.numbers.empty())
    return success();
  auto values = given.getAs<DenseI64ArrayAttr>(list.name);
  if (!values || size_t(values.size()) != list.numbers.size()) {
    InFlightDiagnostic report = op->emitOpError("expects of ")
                                << form.name << " for " << variant << " its " << list.name << " as an array of i64, one for each "
                                << list.of << ", " << list.numbers.size() << " here, got "; // S9
    return values ? report << values.size() : report << "none";
  }
  for (auto [i, number, value] : llvm::enumerate(list.numbers, values.asArrayRef()))
    if (failed(checkNumber(op, variant, number, list.name + "[" + Twine(i) + "]", value)))
      return failure();
  return success();
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
  const std::vector<std::string> names = namesOf(*form);
  for (NamedAttribute one : given)
    if (one.getName() != "form" && !llvm::is_contained(names, one.getName().getValue()))
      return op->emitOpError("expects of ") << form->name << " for " << variant << " the number " << alternatives(names)
                                            << ", got " << one.getName().getValue(); // S9
  for (const ChoiceNumber &number : form->numbers) {
    if (number.isOptional && !given.contains(number.name))
      continue;
    auto value = given.getAs<IntegerAttr>(number.name);
    if (!value || !value.getType().isSignlessInteger(64))
      return op->emitOpError("expects of ") << form->name << " for " << variant << " its " << number.name
                                            << " as i64, got none"; // S9
    if (failed(checkNumber(op, variant, number, number.name, value.getInt())))
      return failure();
  }
  for (const ChoiceList &list : form->lists)
    if (failed(checkList(op, variant, *form, list, given)))
      return failure();
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
