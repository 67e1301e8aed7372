// Changes that leave a right specification right, so that fuzzing reaches what lies behind the checker: they know the types of
// its expressions and the scopes of its names. Where one does not (a size that no longer divides another, an index whose bounds
// are not seen any more), the checker has to say so.
#pragma once
#include "frontend/Ast.h"
#include "frontend/Sema.h"
#include "test/fuzz/SpecMutator.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::fuzz {

/// A layer that others can have, L[D](x: [.., D]) -> [.., D], and what it needs of its file.
struct LentLayer {
  std::string name, arguments;       // "Linear", "[@ -> @]"; @ stands for the axis
  std::string text;                  // empty: the standard library has it
  std::set<std::string> definitions; // names of the items in `text`
};

class TypedSpec {
public:
  using Types = std::set<std::string>; // one for each instance of the layer that something stands in: "R B,D,T"
  struct Body {
    enum class Kind { Model, Layer, Function, Binders } kind;
    int parent;
    std::map<std::string, Types> names;
  };
  struct Place {
    const ast::Expr *expression;
    ast::Range statement;
    int body;
    Types types;
    std::vector<std::string> axes; // that it has in all instances
    bool isReal;
  };
  struct Call {
    std::string name;
    ast::Range range; // of the name
    int body;
  };
  struct Declaration {
    const ast::Stmt *statement;
    int body;
  };

  /// Checks `text` with its last recipe; writes it to `options.path`. Recipes that are wrong are left out. Nothing where it is
  /// wrong all the same.
  static std::optional<TypedSpec> read(std::string text, CheckOptions options);
  /// With one to four changes, and sometimes another name for something.
  std::string change(Random &random, const std::vector<LentLayer> &lent) const;
  /// Adds the layers that other specifications can have.
  void lend(std::vector<LentLayer> &lent) const;

private:
  friend class TypedSpecReader;
  struct Edit {
    uint32_t begin, end;
    std::string text;
  };
  using Edits = std::vector<Edit>; // none: there is nothing to change in this way

  Edits substitute(Random &) const;
  Edits wrap(Random &) const;
  Edits exchangeOperator(Random &) const;
  Edits exchangeFunction(Random &) const;
  Edits borrow(Random &, const std::vector<LentLayer> &) const;
  Edits copyLayer(Random &) const;
  Edits copyUse(Random &) const;
  Edits splitLet(Random &) const;
  Edits swapAxes(Random &) const;
  Edits changeSize(Random &) const;
  Edits addResult(Random &) const;
  std::string rename(Random &, const std::string &changed) const;
  std::string textOf(const ast::Range &range) const { return text.substr(range.begin, range.end - range.begin); }
  const Place *pickReal(Random &) const;
  bool isWithin(int inner, int outer) const;

  std::string text;
  std::shared_ptr<ast::File> file; // owns what the others point to
  std::vector<Body> bodies;
  std::vector<Place> places; // expressions with known types
  std::vector<Call> calls;
  std::vector<Declaration> lets, uses;
  std::vector<const ast::Callable *> layers;
  std::vector<std::vector<ast::Range>> axisLists;    // of declarations, where the order means nothing
  std::vector<ast::Range> sizes;                     // whole numbers of configs, dims and heights of stacks
  std::vector<std::pair<std::string, bool>> results; // real values of the last model, and whether they are scalars
  std::set<std::string> declared, foreign;           // names of this file; words of other files and of its texts
};

} // namespace tenon::fuzz
