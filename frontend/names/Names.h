// `names LAYER as SCHEME` tables: the published names of parameters (docs/language.md, "Recipes").
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include <optional>

namespace tenon {

/// One `use` on the way from the model to a parameter: the name of the used layer, the name it has there, stacked or not
/// (stack[N] contributes one index to the path; loop[N] none).
struct UseStep {
  std::string layer;
  std::string use;
  bool stacked = false;
};

/// A rule that took part in a name, and the table that it stands in.
struct UsedRule {
  ast::Range place, table;
  bool copies = false;
};

/// One step of a path against one step of a pattern, in which * stands for any characters (alone: at least one).
bool matchesStep(const std::string &pattern, const std::string &step);

class NameTables {
public:
  /// Checks one table and keeps it. `owners`: all models and layers of the program (for T0650, unknown layer).
  void add(const ast::Recipe &table, const std::vector<std::string> &owners, Diagnostics &diagnostics);
  std::vector<std::string> schemes() const;

  /// The public names, in `scheme`, of every element of a parameter: `chain` from the model inwards, `leaf` the param's own name,
  /// one entry of `stackCounts` per stacked step. Row-major order of stackCounts; one name when nothing is stacked.
  /// `rules`: those that gave each name, from the model inwards.
  std::vector<PublicName> publicNames(const std::string &scheme, const std::string &model, const std::vector<UseStep> &chain,
                                      const std::string &leaf, const std::vector<int64_t> &stackCounts,
                                      std::vector<std::vector<UsedRule>> *rules = nullptr) const;

private:
  struct Rule {
    std::string pattern;
    PublicName target; // name: the template with * and {n+k}
    ast::Range range;
  };
  struct Table {
    std::string owner, scheme;
    std::vector<Rule> rules;
    ast::Range range;
  };
  struct Path { // of one element of a parameter: its uses with their indices ("blocks.3"), then the leaf
    std::vector<std::string> steps;
    const std::vector<UseStep> &chain;
    const std::string &leaf;
  };
  const Table *find(const std::string &owner, const std::string &scheme) const;
  PublicName translate(const std::string &scheme, const std::string &owner, const Path &path, size_t start,
                       std::vector<UsedRule> &used) const;
  static std::optional<PublicName> target(const ast::ExprPtr &value, size_t captures, Diagnostics &diagnostics);
  static std::optional<PublicName> copied(const ast::Expr &call, size_t captures, Diagnostics &diagnostics);
  std::vector<Table> tables;
};

} // namespace tenon
