// Small parts of the manifest (docs/artifact.md).
#pragma once
#include "dialect/Panels.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tenon {

inline llvm::json::Array stringArray(const std::vector<std::string> &texts) {
  llvm::json::Array array;
  for (const std::string &text : texts)
    array.push_back(text);
  return array;
}

/// Of a parameter that does not lie row-major.
inline llvm::json::Object layoutJson(const Panels &panels) {
  return llvm::json::Object{{"form", "panels"},
                            {"leading", panels.leading},
                            {"width", panels.width},
                            {"steps", panels.steps},
                            {"transposed", panels.transposed}};
}

} // namespace tenon
