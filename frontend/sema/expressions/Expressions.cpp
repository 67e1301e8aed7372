// Expressions: dispatch, conditionals, calls.
#include "frontend/DeepStack.h"
#include "frontend/sema/Checker.h"

namespace tenon::sema {

using Kind = ast::Expr::Kind;

Value Checker::evaluate(Scope *scope, const ast::Expr &expression) {
  if (!spend(expression.range, 1))
    return poison();
  if (!stackIsLow())
    return evaluateKind(scope, expression);
  Value value;
  if (!runOnNewStack([&] { value = evaluateKind(scope, expression); })) {
    failed = true;
    session.reportChain(expression.range);
  }
  return value;
}

Value Checker::evaluateKind(Scope *scope, const ast::Expr &expression) {
  switch (expression.kind) {
  case Kind::Int:
    return Value::ofInt(Size(expression.integer));
  case Kind::Real:
    return Value::ofReal(expression.real);
  case Kind::String:
    return Value::ofText(Value::Kind::String, expression.text);
  case Kind::Name:
    return lookup(scope, {expression.text, expression.range});
  case Kind::Tuple: {
    std::vector<Value> elements;
    for (auto &operand : expression.operands)
      elements.push_back(evaluate(scope, operand));
    return Value::ofTuple(std::move(elements));
  }
  case Kind::Neg:
    return negate(evaluate(scope, expression.operands[0]), expression.range);
  case Kind::Not:
    return logicalNot(evaluate(scope, expression.operands[0]), expression.range);
  case Kind::If:
    return conditional(scope, expression);
  case Kind::Binary: {
    Value left = evaluate(scope, expression.operands[0]);
    Value right = evaluate(scope, expression.operands[1]);
    return binary(expression.text, left, right, expression);
  }
  case Kind::Member:
    return member(scope, expression);
  case Kind::Attend:
    return attend(scope, expression);
  case Kind::Scan:
    return scan(scope, expression);
  case Kind::AxisOps:
    return axisOperations(scope, expression);
  case Kind::Call:
    return call(scope, expression);
  }
  return poison();
}

Value Checker::conditional(Scope *scope, const ast::Expr &expression) {
  Value condition = evaluate(scope, expression.operands[0]);
  if (condition.isPoison())
    return poison();
  if (condition.kind == Value::Kind::Bool)
    return evaluate(scope, expression.operands[condition.truth ? 1 : 2]);
  ast::Range range = expression.operands[0]->range;
  if (condition.isTensor())
    if (auto truth = decideByDepth(condition.node))
      return evaluate(scope, expression.operands[*truth ? 1 : 2]);
  if (condition.isTensor() && graph.element(condition.node) == Element::Bool) {
    if (auto *mistake = error("T0312", range, "the condition of `if` must be known at compile time", text(condition)))
      mistake->notes.push_back({"help", "where(condition, a, b) chooses at run time"});
    return poison();
  }
  error("T0312", range, "the condition of `if` must be a truth value, this is " + text(condition));
  return poison();
}

/// Linear(bias = false) in the place of a config: the same layer with these keywords.
Value Checker::layerWithKeywords(Scope *scope, Value function, const ast::Expr &expression) {
  auto layer = std::make_shared<LayerReference>(*function.layer);
  for (auto &argument : expression.arguments) {
    if (!argument.keyword) {
      if (auto *mistake = error("T0307", argument.value->range, "a layer given as a config takes keyword arguments only"))
        mistake->notes.push_back({"help", "to apply it: use name = " + layer->callable->name.text + "[...], then name(x)"});
      return poison();
    }
    Keyword keyword{argument.keyword->text, evaluate(scope, argument.value), argument.keyword->range};
    bool replaced = false;
    for (auto &old : layer->keywords)
      if (old.name == keyword.name)
        old = keyword, replaced = true;
    if (!replaced)
      layer->keywords.push_back(keyword);
  }
  function.layer = layer;
  return function;
}

Value Checker::call(Scope *scope, const ast::Expr &expression) {
  static const std::vector<ast::AxisOp> none;
  const ast::Expr *callee = expression.operands[0].get();
  const std::vector<ast::AxisOp> *axisOps = &none;
  if (callee->kind == Kind::AxisOps) {
    axisOps = &callee->axisOps;
    callee = callee->operands[0].get();
  }
  Value function = evaluate(scope, *callee);
  if (function.kind == Value::Kind::Builtin)
    return callBuiltin(scope, function.text, *axisOps, expression, callee->range);
  if (function.kind == Value::Kind::Layer) {
    if (!axisOps->empty())
      error("T0412", expression.range, "a layer given as a config takes keywords; its axes are given where it is used");
    return layerWithKeywords(scope, function, expression);
  }
  std::vector<Value> arguments;
  std::vector<ast::Range> ranges;
  bool keywords = false;
  for (auto &argument : expression.arguments) {
    if (argument.keyword && !function.isPoison() && !keywords) {
      error("T0307", argument.keyword->range,
            kindOf(function) + " is called with tensors only; its keywords stand where it is declared or used");
      keywords = true;
    }
    arguments.push_back(evaluate(scope, argument.value));
    ranges.push_back(argument.value->range);
  }
  if (function.isPoison() || keywords)
    return poison();
  if (function.kind == Value::Kind::Function)
    return callFunction(*function.function, *axisOps, std::move(arguments), ranges, scope, expression.range);
  if (function.kind != Value::Kind::Instance) {
    error("T0314", callee->range, text(function) + " cannot be called");
    return poison();
  }
  std::optional<AxisId> history;
  if (!axisOps->empty()) {
    if (function.instance->repeat == ast::Stmt::Repeat::None) {
      error("T0412", (*axisOps)[0].range,
            function.instance->name + " is a single layer; axes stand where it is used, not where it is called");
      return poison();
    }
    if (const ast::AxisOp &op = (*axisOps)[0]; axisOps->size() == 1 && op.low) { // blocks[N: 0](x)
      const std::string axis = op.from[0].name.text, results = function.instance->name + "[" + axis + "](x)";
      errorWith("T0412", op.range, "the results of every step stand along a plain axis: " + results,
                "one of them is picked behind the call: " + results + "[" + axis + ": 0]");
      return poison();
    }
    history = onlyAxis(scope, *axisOps, "the results of every step");
    if (!history)
      return poison();
  }
  return callLayer(function.instance, std::move(arguments), ranges, history, scope, expression.range);
}

} // namespace tenon::sema
