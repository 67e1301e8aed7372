// Small parts of the manifest (docs/artifact.md).
#pragma once
#include "dialect/Panels.h"
#include "frontend/Program.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tenon {

llvm::json::Array stringArray(const std::vector<std::string> &texts);
/// The dims that a caller gives, with their bounds.
llvm::json::Array dimsJson(const Entry &entry);
llvm::json::Object initializerJson(const Initializer &init);
/// What has to hold of dims: bounds that are other dims, and what the model requires.
llvm::json::Array requirementsJson(const Entry &entry);
/// The sizes of axes and stacks that dims decide, by name.
llvm::json::Array derivedSizesJson(const Entry &entry);
/// A number, or a linear form of the dims, which have these names.
llvm::json::Value sizeJson(const Size &size, const std::vector<std::string> &dims);
/// `real`: the element type of real tensors; where everything is f64, nothing that is `written` changes it.
std::string dtypeOf(Element element, const std::string &real, const std::string &written = "");
/// Name, type, axes and sizes of an input or output.
llvm::json::Object tensorJson(const Entry &entry, const std::string &name, const ValueType &type, const std::string &dtype);
/// The same of a number, f64.
llvm::json::Object scalarJson(const std::string &name);
/// Of the optimizer of a recipe that has one. `real`: the type of what does not say its own.
llvm::json::Object optimizerJson(const Program &program, const CheckedRecipe &recipe, mlir::ModuleOp module,
                                 llvm::StringRef real);
/// Of a parameter that does not lie row-major.
llvm::json::Object layoutJson(const Panels &panels);

} // namespace tenon
