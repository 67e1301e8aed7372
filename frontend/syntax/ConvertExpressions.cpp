// Expressions of the syntax tree: precedence climbing, numbers, suffixes, attend and scan.
#include "frontend/syntax/Converter.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace tenon::syntax {
namespace {

constexpr int kComparison = 3, kPower = 6;

int precedence(std::string_view op) {
  if (op == "or")
    return 1;
  if (op == "and")
    return 2;
  if (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=")
    return kComparison;
  if (op == "+" || op == "-")
    return 4;
  return op == "^" ? kPower : 5;
}

} // namespace

Built Converter::make(ast::Expr::Kind kind, const char *begin, const char *end) {
  Built built{std::make_shared<ast::Expr>(), 1};
  built.expr->kind = kind;
  built.expr->range = state.range(begin, end);
  return built;
}

/// Reported once for a file: what is dropped at the limit leaves a tree that grows towards it again.
void Converter::tooDeep(const char *where) {
  if (!std::exchange(deep, true))
    reportTooDeep(state, where);
}

void Converter::adopt(Built &parent, Built child) {
  parent.height = std::max(parent.height, child.height + 1);
  if (parent.height > kNestingLimit) {
    // The tall subtree is dropped, so one mistake is reported and the tree stays low.
    tooDeep(state.begin + child.expr->range.end);
    child = make(ast::Expr::Kind::Int, state.begin + child.expr->range.begin, state.begin + child.expr->range.end);
    parent.height = 2;
  }
  parent.expr->operands.push_back(std::move(child.expr));
}

/// Counts the parts that `built` holds besides its operands, met since `tallest` was `outer`.
void Converter::enclose(Built &built, unsigned outer) {
  built.height = std::max(built.height, tallest + 1);
  tallest = outer;
  if (built.height <= kNestingLimit)
    return;
  tooDeep(state.begin + built.expr->range.begin);
  built = make(ast::Expr::Kind::Int, state.begin + built.expr->range.begin, state.begin + built.expr->range.end);
}

Built Converter::expression(const Expression &node) {
  size_t next = 0;
  Built left = operand(node.first);
  return climb(node, next, 1, std::move(left));
}

/// Joins operators of at least `minimum` precedence from `next` on. `^` groups to the right, comparisons do not chain.
Built Converter::climb(const Expression &node, size_t &next, int minimum, Built left) {
  bool compared = false;
  // Only a chain of `^` gets deep here: every operand of it is inside the one before.
  struct Level {
    unsigned &depth;
    ~Level() { --depth; }
  } level{++climbing};
  if (climbing > kNestingLimit) {
    tooDeep(node.rest[next].op.begin);
    next = node.rest.size();
    return left;
  }
  while (next < node.rest.size()) {
    const OperatorTail &tail = node.rest[next];
    int strength = precedence(tail.op.text());
    if (strength < minimum)
      break;
    if (strength == kComparison) {
      if (compared)
        state.mistake("T0011", range(tail.op), "comparisons cannot be chained", "second comparison")
            .notes.push_back({"help", "join two comparisons with 'and', as in: 0 <= i and i < n"});
      compared = true;
    }
    ++next;
    Built right = operand(tail.operand);
    while (next < node.rest.size()) {
      int following = precedence(node.rest[next].op.text());
      bool binds = following > strength || (following == strength && strength == kPower);
      if (!binds)
        break;
      right = climb(node, next, following, std::move(right));
    }
    Built joined = make(ast::Expr::Kind::Binary, state.begin + left.expr->range.begin, state.begin + right.expr->range.end);
    joined.expr->text = tail.op.text();
    joined.expr->opRange = range(tail.op);
    adopt(joined, std::move(left));
    adopt(joined, std::move(right));
    left = std::move(joined);
  }
  return left;
}

Built Converter::operand(const Operand &node) {
  Built built = primary(node.primary);
  const char *begin = state.begin + built.expr->range.begin;
  for (const Suffix &suffix : node.suffixes)
    built = suffixed(std::move(built), begin, suffix);
  const char *end = state.begin + built.expr->range.end;
  for (size_t i = node.signs.size(); i-- > 0;) {
    auto kind = node.signs[i].text() == "-" ? ast::Expr::Kind::Neg : ast::Expr::Kind::Not;
    Built outer = make(kind, node.signs[i].begin, end);
    adopt(outer, std::move(built));
    built = std::move(outer);
  }
  return built;
}

Built Converter::suffixed(Built base, const char *begin, const Suffix &node) {
  struct Visitor {
    Converter &self;
    Built &base;
    const char *begin;
    Built operator()(const Member &member) const {
      Built built = self.make(ast::Expr::Kind::Member, begin, member.end);
      built.expr->text = member.name.text();
      built.expr->opRange = self.range(member.name);
      self.adopt(built, std::move(base));
      return built;
    }
    Built operator()(const AxisOps &operations) const {
      Built built = self.make(ast::Expr::Kind::AxisOps, begin, operations.end);
      self.adopt(built, std::move(base));
      unsigned outer = std::exchange(self.tallest, 0);
      built.expr->axisOps = self.axisOps(operations);
      self.enclose(built, outer);
      return built;
    }
    Built operator()(const Arguments &arguments) const {
      Built built = self.make(ast::Expr::Kind::Call, begin, arguments.end);
      self.adopt(built, std::move(base));
      unsigned outer = std::exchange(self.tallest, 0);
      built.expr->arguments = self.arguments(arguments);
      self.enclose(built, outer);
      return built;
    }
    using result_type = Built;
  };
  return boost::apply_visitor(Visitor{*this, base, begin}, node);
}

Built Converter::primary(const Primary &node) {
  struct Visitor {
    Converter &self;
    Built operator()(const Number &number) const { return self.number(number); }
    Built operator()(const Text &text) const {
      Built built = self.make(ast::Expr::Kind::String, text.begin, text.end);
      built.expr->text = contents(text);
      return built;
    }
    Built operator()(const Reference &reference) const {
      Built built = self.make(ast::Expr::Kind::Name, reference.begin, reference.end);
      built.expr->text = reference.text();
      return built;
    }
    Built operator()(const Parenthesis &node) const {
      if (node.elements.size() == 1) {
        // The range includes the parentheses, so that an enclosing expression covers them.
        Built inner = self.expression(node.elements.front());
        inner.expr->range = self.range(node);
        return inner;
      }
      Built built = self.make(ast::Expr::Kind::Tuple, node.begin, node.end);
      for (const Expression &element : node.elements)
        self.adopt(built, self.expression(element));
      return built;
    }
    Built operator()(const If &node) const { return self.conditional(node); }
    Built operator()(const Attend &node) const { return self.attend(node); }
    Built operator()(const Scan &node) const { return self.scan(node); }
    using result_type = Built;
  };
  return boost::apply_visitor(Visitor{*this}, node);
}

Built Converter::number(const Number &node) {
  std::string digits;
  for (char c : node.text())
    if (c != '_')
      digits += c;
  bool whole = digits.find_first_of(".e") == std::string::npos;
  Built built = make(whole ? ast::Expr::Kind::Int : ast::Expr::Kind::Real, node.begin, node.end);
  const char *end = digits.data() + digits.size();
  auto result =
      whole ? std::from_chars(digits.data(), end, built.expr->integer) : std::from_chars(digits.data(), end, built.expr->real);
  // from_chars also refuses what is too small; such a literal would silently be 0.
  if (result.ec != std::errc() || result.ptr != end)
    state.mistake("T0012", range(node), "this number cannot be stored",
                  whole ? "needs more than 64 bits" : "outside the range of f64");
  return built;
}

Built Converter::conditional(const If &node) {
  Built built = make(ast::Expr::Kind::If, node.begin, node.end);
  adopt(built, expression(node.condition));
  adopt(built, expression(node.yes));
  adopt(built, expression(node.no));
  return built;
}

Built Converter::attend(const Attend &node) {
  Built built = make(ast::Expr::Kind::Attend, node.begin, node.end);
  for (const BinderNode &entry : node.binders)
    built.expr->binders.push_back(binder(entry));
  unsigned outer = std::exchange(tallest, 0);
  bool broken = false;
  for (const AttendEntry &entry : node.items) {
    const auto *item = boost::get<AttendItemNode>(&entry.get());
    if (!item) {
      broken = true;
      continue;
    }
    using Kind = ast::AttendItem::Kind;
    std::string_view word = item->kind.text();
    ast::AttendItem result;
    result.kind = word == "score"   ? Kind::Score
                  : word == "scale" ? Kind::Scale
                  : word == "mask"  ? Kind::Mask
                  : word == "drop"  ? Kind::Drop
                                    : Kind::Value;
    if (item->name)
      result.name = name(*item->name);
    result.value = value(item->value);
    result.range = range(*item);
    built.expr->items.push_back(std::move(result));
  }
  enclose(built, outer);
  if (built.expr->items.empty() && !broken)
    state.mistake("T0014", range(node), "this 'attend' has no items", "expected 'score', 'mask' and 'value' lines inside { }")
        .notes.push_back({"help", "at least a score and a value: attend(j: S) { score dot[E](q, k) value v }"});
  return built;
}

Built Converter::scan(const Scan &node) {
  Built built = make(ast::Expr::Kind::Scan, node.begin, node.end);
  for (const BinderNode &entry : node.binders)
    built.expr->binders.push_back(binder(entry));
  unsigned outer = std::exchange(tallest, 0);
  built.expr->body = body(node.body);
  enclose(built, outer);
  return built;
}

std::vector<ast::AxisTerm> Converter::axes(const Axes &node) {
  std::vector<ast::AxisTerm> result{{0, name(node.first)}};
  for (const AxisTail &tail : node.rest)
    result.push_back({*tail.op.begin, name(tail.name)});
  return result;
}

std::vector<ast::AxisOp> Converter::axisOps(const AxisOps &node) {
  std::vector<ast::AxisOp> result;
  for (const AxisOpNode &operation : node.operations) {
    ast::AxisOp op;
    op.range = range(operation);
    op.from = axes(operation.from);
    if (operation.index) {
      op.low = value(operation.index->low);
      if (operation.index->high) {
        if (operation.index->high->end)
          op.high = value(*operation.index->high->end);
        else
          op.openEnd = true;
      }
    }
    if (operation.to)
      op.to = axes(*operation.to);
    result.push_back(std::move(op));
  }
  return result;
}

std::vector<ast::Argument> Converter::arguments(const Arguments &node) {
  std::vector<ast::Argument> result;
  for (const ArgumentNode &argument : node.list) {
    ast::Argument entry;
    if (argument.keyword)
      entry.keyword = name(*argument.keyword);
    entry.value = value(argument.value);
    result.push_back(std::move(entry));
  }
  return result;
}

} // namespace tenon::syntax
