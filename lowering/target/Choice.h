// What a target chooses for a kernel before memory is planned: `tenon.chosen` of a kernel op has a choice for each variant of the
// target's code, a form and its numbers. Generators read it; a text of the schedule form may have another one that is legal.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

class Target;

inline constexpr llvm::StringLiteral kChosen = "tenon.chosen";

/// A number of a choice, and what it may be: from `least` to `most`, a multiple of `step`, or a power of 2.
struct ChoiceNumber {
  llvm::StringRef name;
  int64_t least = 1, most = 1, step = 1;
  bool isPower = false;
  bool isOptional = false; // 0 where the choice says none
};

/// A list of a choice: for each of several parts of a kernel (`of`: what they are) a number, and what that may be. One of no part
/// is not written.
struct ChoiceList {
  llvm::StringRef name, of;
  llvm::SmallVector<ChoiceNumber> numbers = {}; // their names are not asked
};

/// A form of a kernel's code, with its numbers.
struct ChoiceForm {
  llvm::StringRef name;
  llvm::SmallVector<ChoiceNumber> numbers = {};
  llvm::SmallVector<ChoiceList> lists = {};
};

/// One that was found legal.
struct Choice {
  mlir::DictionaryAttr attribute; // {form = "strips", rows = 128 : i64, ..}
  llvm::StringRef form() const { return attribute.getAs<mlir::StringAttr>("form").getValue(); }
  std::optional<int64_t> number(llvm::StringRef name) const {
    auto value = attribute.getAs<mlir::IntegerAttr>(name);
    return value ? std::optional(value.getInt()) : std::nullopt;
  }
  /// Empty where there is none.
  llvm::ArrayRef<int64_t> list(llvm::StringRef name) const {
    auto values = attribute.getAs<mlir::DenseI64ArrayAttr>(name);
    return values ? values.asArrayRef() : llvm::ArrayRef<int64_t>();
  }
};

using ChosenList = std::pair<llvm::StringRef, llvm::SmallVector<int64_t>>;
mlir::DictionaryAttr makeChoice(mlir::MLIRContext *context, llvm::StringRef form,
                                llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> numbers,
                                llvm::ArrayRef<ChosenList> lists = {});

/// The choice for a variant, which is one of the forms with numbers that these allow: else the reason is reported at the op.
mlir::FailureOr<Choice> choiceFor(mlir::Operation *op, llvm::StringRef variant, llvm::ArrayRef<ChoiceForm> forms);

/// Writes what the target chooses on all kernels of an entry in the kernel form, but for those that say it already.
void chooseKernels(mlir::func::FuncOp entry, const Target &target);

} // namespace tenon
