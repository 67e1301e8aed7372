// One model: its entries with the dims and configs that options and recipes bind, its recipes, its parameters.
#pragma once
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// What the options ask for, to be compiled. Nothing once a mistake was reported.
std::optional<Program> programOf(Session &session, const ast::Model &model);

/// Every entry in both modes and every recipe, for their mistakes: `tenon check`.
void checkEverything(Session &session, const ast::Model &model);

} // namespace tenon::sema
