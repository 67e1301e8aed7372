// What a `require` says of sizes that the run brings.
#pragma once
#include "dialect/Sizes.h"

namespace tenon {

/// Proofs go out from it, and it is checked where sizes are bound.
struct Requirement {
  enum class Relation { AtMost, Below, Same } relation;
  Size left, right;
  std::string condition, text, place; // T >= 4, as it is written; what the `require` says of it; file:line:column
};

inline const char *signOf(Requirement::Relation relation) {
  using enum Requirement::Relation;
  return relation == AtMost ? "<=" : relation == Below ? "<" : "==";
}

} // namespace tenon
