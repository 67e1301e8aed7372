// The names that the text of a model declares.
#pragma once
#include "frontend/Ast.h"
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenon::sema {

/// What a model declares, read off its text: known before any config has a value.
struct Declared {
  std::vector<std::string> dims, configs, losses, metrics, outs, inputs;
  explicit Declared(const ast::Model &model) {
    std::set<std::pair<const void *, std::string>> known;
    for (auto &statement : model.body) {
      auto once = [&](std::vector<std::string> &list) {
        if (known.insert({&list, statement->name.text}).second)
          list.push_back(statement->name.text);
      };
      if (statement->kind == ast::Stmt::Kind::Dim && statement->op != '=')
        once(dims);
      if (statement->kind == ast::Stmt::Kind::Config)
        once(configs);
      if (statement->kind == ast::Stmt::Kind::Loss)
        once(losses);
      if (statement->kind == ast::Stmt::Kind::Metric)
        once(metrics);
      if (statement->kind == ast::Stmt::Kind::Out)
        once(outs);
      if (statement->kind == ast::Stmt::Kind::In)
        once(inputs);
    }
  }
};

} // namespace tenon::sema
