// The class behind Convert.h, split over two files: expressions and everything else.
#pragma once
#include "frontend/syntax/Convert.h"
#include <algorithm>
#include <utility>

namespace tenon::syntax {

/// An expression with the height of its tree. The limit on the height keeps every later recursion over trees, and their
/// destruction, inside the stack: `a + a + ...` nests in the tree without nesting in the text.
struct Built {
  ast::ExprPtr expr;
  unsigned height = 1;
};

class Converter {
public:
  explicit Converter(ParserState &state) : state(state) {}

  ast::File file(const std::vector<TopItem> &items);
  Built expression(const Expression &node);

private:
  // Convert.cpp
  void item(ast::File &file, const TopItem &node);
  ast::Recipe recipe(const RecipeNode &node);
  std::shared_ptr<ast::Callable> callable(const CallableNode &node);
  std::vector<ast::StmtPtr> body(const std::vector<Statement> &nodes);
  struct StatementVisitor;
  void statement(std::vector<ast::StmtPtr> &list, const Statement &node);
  std::shared_ptr<ast::Stmt> add(std::vector<ast::StmtPtr> &list, ast::Stmt::Kind kind, const Located &place);
  void use(std::vector<ast::StmtPtr> &list, const Use &node);
  void dims(std::vector<ast::StmtPtr> &list, const Dims &node);
  void out(std::vector<ast::StmtPtr> &list, const Out &node);
  std::vector<ast::Typed> groups(const std::vector<Group> &nodes);
  ast::Type type(const TypeNode &node);

  // ConvertExpressions.cpp
  Built operand(const Operand &node);
  Built primary(const Primary &node);
  Built suffixed(Built base, const char *begin, const Suffix &node);
  Built climb(const Expression &node, size_t &next, int minimum, Built left);
  Built number(const Number &node);
  Built conditional(const If &node);
  Built attend(const Attend &node);
  Built scan(const Scan &node);
  Built make(ast::Expr::Kind kind, const char *begin, const char *end);
  void adopt(Built &parent, Built child);
  void enclose(Built &built, unsigned outer);
  void tooDeep(const char *where);
  /// The expression behind a node that counts towards the height of no expression.
  ast::ExprPtr value(const Expression &node) { return track(expression(node)); }
  ast::ExprPtr track(Built built) {
    tallest = std::max(tallest, built.height);
    return built.expr;
  }
  std::vector<ast::AxisOp> axisOps(const AxisOps &node);
  std::vector<ast::AxisTerm> axes(const Axes &node);
  std::vector<ast::Argument> arguments(const Arguments &node);
  ast::Binder binder(const BinderNode &node) { return {name(node.name), name(node.axis)}; }

  ast::Name name(const Token &token) { return {std::string(token.text()), range(token)}; }
  std::vector<ast::Name> names(const std::vector<Token> &tokens);
  ast::Range range(const Located &place) { return state.range(place.begin, place.end); }
  static std::string contents(const Located &text) { return {text.begin + 1, text.end - 1}; }

  ParserState &state;
  unsigned climbing = 0; // calls of climb() inside each other
  bool deep = false;     // nesting beyond the limit is reported
  unsigned tallest = 0;  // height of the tallest expression met since the caller reset it
};

} // namespace tenon::syntax
