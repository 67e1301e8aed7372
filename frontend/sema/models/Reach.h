// Which losses a gradient can be taken of.
#pragma once
#include "frontend/sema/session/Session.h"
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::sema {

/// A step of `entry` has something to do: a loss that `weights` does not weigh by 0 reaches a parameter, and one that `policies`
/// does not freeze (else T0626, T0641). `recipe` is empty where only gradients are asked for; `pathOf` names a parameter by
/// Node::index.
void checkReach(Session &session, const ast::Model &model, const CheckedRecipe &recipe, const Entry &entry,
                const std::vector<std::pair<std::string, double>> &weights, const std::map<std::string, ParamPolicy> &policies,
                const std::function<std::string(uint32_t)> &pathOf);

} // namespace tenon::sema
