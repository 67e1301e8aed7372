// What stands here for functions, methods and types of other libraries: remedies of names that nothing declares.
#pragma once
#include <string>

namespace tenon::sema {

/// For a function, a layer or a value; null: none that is known.
const char *insteadOf(const std::string &name);
/// For a method or attribute of a tensor; empty: none that is known.
std::string insteadOfMember(const std::string &name);
/// For the word of an element type; empty: none that is known.
std::string insteadOfType(const std::string &name);
/// For an axis that a layer or function outside of a model mentions and nothing declares.
std::string helpOfAxis(const std::string &name);

} // namespace tenon::sema
