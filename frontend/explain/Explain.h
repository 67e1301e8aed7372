// The pages of `tenon explain CODE`. Every error code has one. Codes of one area stand in one file Explain<Area>.cpp:
//   T0001..T0099 ExplainSyntax.cpp
//   T0101..T0199, T0301..T0599, T0901..T0999 ExplainChecker.cpp
//   T0201..T0299 ExplainShapes.cpp
//   T0601..T0699 ExplainRecipes.cpp
// A new area adds its file to the CMakeLists.txt here, its function here and one line to Explain.cpp.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace tenon {

/// One page. `wrong` and `right` are complete enough to show the mistake; a page without an example has empty texts.
struct ExplainPage {
  const char *code;
  const char *title;
  const char *cause;
  const char *wrong;
  const char *right;
};

using ExplainPages = std::span<const ExplainPage>;

ExplainPages explainSyntax();
// The checker's: names and scopes; values and types; layers, loops and states; attend; what the compiler says.
ExplainPages explainScopes();
ExplainPages explainValues();
ExplainPages explainLayers();
ExplainPages explainAttend();
ExplainPages explainCompiler();
ExplainPages explainShapes();
ExplainPages explainRecipes();         // single settings
ExplainPages explainRecipesAsAWhole(); // settings together, with the model and the data
ExplainPages explainParameters();      // patterns of groups and freeze, what no step can train yet
ExplainPages explainNames();

/// The page printed by `tenon explain CODE`: cause, wrong example, right example. Empty if the code is unknown.
std::string explanation(const std::string &code);

/// All areas, for `tenon explain` without a code and for tests.
std::vector<ExplainPages> explainAreas();

} // namespace tenon
