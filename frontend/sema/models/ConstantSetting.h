// A constant of the language as a value of a recipe.
#pragma once
#include "frontend/Program.h"
#include "frontend/sema/Values.h"

namespace tenon::sema {

/// A number, truth value or text; null for anything else.
SettingValue settingOf(const Value &value, ast::Range range);

} // namespace tenon::sema
