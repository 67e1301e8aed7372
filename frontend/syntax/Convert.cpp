// Items, statements and types of the syntax tree.
#include "frontend/syntax/Convert.h"
#include "frontend/syntax/Converter.h"

namespace tenon::syntax {

using Kind = ast::Stmt::Kind;

ast::File convertFile(ParserState &state, const std::vector<TopItem> &items) { return Converter(state).file(items); }

ast::ExprPtr convertExpression(ParserState &state, const Expression &expression) {
  Built built = Converter(state).expression(expression);
  return state.mistakes == 0 ? built.expr : nullptr; // lists inside may have gone on after a mistake
}

std::vector<ast::Name> Converter::names(const std::vector<Token> &tokens) {
  std::vector<ast::Name> result;
  for (const Token &token : tokens)
    result.push_back(name(token));
  return result;
}

ast::File Converter::file(const std::vector<TopItem> &items) {
  ast::File result;
  result.file = state.file;
  for (const TopItem &node : items)
    item(result, node);
  return result;
}

void Converter::item(ast::File &file, const TopItem &node) {
  struct Visitor {
    Converter &self;
    ast::File &file;
    void operator()(const Bad &) const {}
    void operator()(const ImportNode &node) const {
      ast::Item item;
      item.kind = ast::Item::Kind::Import;
      item.import = {contents(node.path), self.range(node)};
      file.items.push_back(std::move(item));
    }
    void operator()(const ModelNode &node) const {
      ast::Item item;
      item.kind = ast::Item::Kind::Model;
      item.model = std::make_shared<ast::Model>(ast::Model{self.name(node.name), self.body(node.body), self.range(node)});
      file.items.push_back(std::move(item));
    }
    void operator()(const CallableNode &node) const {
      ast::Item item;
      item.kind = ast::Item::Kind::Callable;
      item.callable = self.callable(node);
      file.items.push_back(std::move(item));
    }
    void operator()(const RecipeNode &node) const {
      ast::Item item;
      item.kind = ast::Item::Kind::Recipe;
      item.recipe = std::make_shared<ast::Recipe>(self.recipe(node));
      file.items.push_back(std::move(item));
    }
    using result_type = void;
  };
  boost::apply_visitor(Visitor{*this, file}, node);
}

ast::Recipe Converter::recipe(const RecipeNode &node) {
  struct Visitor {
    Converter &self;
    ast::Recipe &recipe;
    void operator()(const Bad &) const {}
    void operator()(const BindSetting &node) const {
      ast::Setting setting;
      setting.isBind = true;
      setting.range = self.range(node);
      for (const Binding &binding : node.bindings)
        setting.bindings.push_back({self.name(binding.name), self.value(binding.value)});
      recipe.settings.push_back(std::move(setting));
    }
    void operator()(const KeySetting &node) const {
      ast::Setting setting;
      setting.keyIsString = *node.key.begin == '"';
      setting.key = {setting.keyIsString ? contents(node.key) : std::string(node.key.text()), self.range(node.key)};
      setting.value = self.value(node.value);
      setting.range = self.range(node);
      recipe.settings.push_back(std::move(setting));
    }
    using result_type = void;
  };
  using RecipeKind = ast::Recipe::Kind;
  std::string_view word = node.kind.text();
  ast::Recipe result;
  result.kind = word == "train" ? RecipeKind::Train : word == "generate" ? RecipeKind::Generate : RecipeKind::Names;
  result.owner = name(node.header.owner);
  result.name = node.header.name ? name(*node.header.name) : result.owner;
  result.range = range(node);
  for (const SettingNode &setting : node.settings)
    boost::apply_visitor(Visitor{*this, result}, setting);
  return result;
}

std::shared_ptr<ast::Callable> Converter::callable(const CallableNode &node) {
  auto result = std::make_shared<ast::Callable>();
  result->isLayer = node.kind.text() == "layer";
  result->name = name(node.header.name);
  for (const FormalNode &formal : node.header.formals) {
    ast::Formal entry{name(formal.name), {}};
    if (formal.output)
      entry.output = name(*formal.output);
    result->formals.push_back(std::move(entry));
  }
  result->parameters = groups(node.header.parameters);
  for (const TypeNode &entry : node.header.results)
    result->results.push_back(type(entry));
  result->body = body(node.body);
  result->range = range(node);
  return result;
}

ast::Type Converter::type(const TypeNode &node) {
  ast::Type result;
  result.range = range(node);
  if (node.element)
    result.element = node.element->text();
  if (node.bound)
    result.bound = value(*node.bound);
  if (node.shape) {
    result.hasShape = true;
    result.axes = names(node.shape->axes);
  }
  return result;
}

std::vector<ast::Typed> Converter::groups(const std::vector<Group> &nodes) {
  std::vector<ast::Typed> result;
  for (const Group &group : nodes) {
    ast::Type shared = type(group.type);
    for (const Token &token : group.names)
      result.push_back({name(token), shared});
  }
  return result;
}

std::vector<ast::StmtPtr> Converter::body(const std::vector<Statement> &nodes) {
  std::vector<ast::StmtPtr> result;
  for (const Statement &node : nodes)
    statement(result, node);
  return result;
}

std::shared_ptr<ast::Stmt> Converter::add(std::vector<ast::StmtPtr> &list, Kind kind, const Located &place) {
  auto result = std::make_shared<ast::Stmt>();
  result->kind = kind;
  result->range = range(place);
  list.push_back(result);
  return result;
}

void Converter::use(std::vector<ast::StmtPtr> &list, const Use &node) {
  // What follows the "=" is converted once and shared: expressions are never changed after parsing.
  ast::Stmt shared;
  shared.kind = Kind::Use;
  shared.range = range(node);
  if (node.repeat) {
    shared.repeat = node.repeat->kind.text() == "stack" ? ast::Stmt::Repeat::Stack : ast::Stmt::Repeat::Loop;
    shared.count = value(node.repeat->count);
  }
  shared.layer = name(node.layer);
  if (node.operations)
    shared.axisOps = axisOps(*node.operations);
  if (node.arguments)
    shared.arguments = arguments(*node.arguments);
  for (const Token &token : node.names) {
    auto statement = std::make_shared<ast::Stmt>(shared);
    statement->name = name(token);
    list.push_back(std::move(statement));
  }
}

void Converter::dims(std::vector<ast::StmtPtr> &list, const Dims &node) {
  for (const DimNode &dim : node.dims) {
    auto statement = add(list, Kind::Dim, dim);
    statement->name = name(dim.name);
    if (dim.tail) {
      statement->op = *dim.tail->op.begin;
      statement->value = value(dim.tail->value);
    }
  }
}

void Converter::out(std::vector<ast::StmtPtr> &list, const Out &node) {
  auto statement = add(list, Kind::Out, node);
  // `out a, b` is the entry infer; its name has the place of the keyword's statement.
  statement->name = {"infer", range(node)};
  if (node.head) {
    statement->name = name(node.head->name);
    statement->walked = names(node.head->walked);
  }
  statement->names = names(node.names);
}

/// Statements to the list that they stand in.
struct Converter::StatementVisitor {
  Converter &self;
  std::vector<ast::StmtPtr> &list;
  using result_type = void;

  std::shared_ptr<ast::Stmt> named(Kind kind, const Located &place, const Token &name, const Expression &value) const {
    auto statement = self.add(list, kind, place);
    statement->name = self.name(name);
    statement->value = self.value(value);
    return statement;
  }
  void typed(Kind kind, const Located &place, const std::vector<Group> &groups, ast::ExprPtr value, char op) const {
    for (ast::Typed &entry : self.groups(groups)) {
      auto statement = self.add(list, kind, place);
      statement->name = std::move(entry.name);
      statement->type = std::move(entry.type);
      statement->value = value;
      statement->op = op;
    }
  }

  void operator()(const Bad &node) const { self.add(list, Kind::Bad, node); }
  void operator()(const Config &node) const {
    for (const Binding &binding : node.bindings) {
      auto statement = named(Kind::Config, binding.name, binding.name, binding.value);
      statement->range.end = statement->value->range.end;
    }
  }
  void operator()(const Dims &node) const { self.dims(list, node); }
  void operator()(const Require &node) const {
    auto statement = self.add(list, Kind::Require, node);
    statement->value = self.value(node.condition);
    if (node.message)
      statement->message = contents(*node.message);
  }
  void operator()(const In &node) const { typed(Kind::In, node, node.groups, nullptr, 0); }
  void operator()(const Param &node) const { typed(Kind::Param, node, node.groups, self.value(node.value), *node.op.begin); }
  void operator()(const State &node) const { typed(Kind::State, node, node.groups, self.value(node.value), *node.op.begin); }
  void operator()(const Next &node) const { named(Kind::Next, node, node.name, node.value); }
  void operator()(const Use &node) const { self.use(list, node); }
  void operator()(const Let &node) const {
    auto statement = self.add(list, Kind::Let, node);
    statement->names = self.names(node.names);
    if (node.type)
      statement->type = self.type(*node.type);
    statement->value = self.value(node.value);
  }
  void operator()(const Out &node) const { self.out(list, node); }
  void operator()(const Loss &node) const { named(Kind::Loss, node, node.name, node.value); }
  void operator()(const Metric &node) const { named(Kind::Metric, node, node.name, node.value); }
  void operator()(const Return &node) const {
    auto statement = self.add(list, node.keyword.text() == "return" ? Kind::Return : Kind::Yield, node);
    for (const Expression &value : node.values)
      statement->values.push_back(self.value(value));
  }
  void operator()(const Until &node) const { self.add(list, Kind::Until, node)->value = self.value(node.value); }
  void operator()(const Carry &node) const {
    auto statement = named(Kind::Carry, node, node.name, node.value);
    statement->type = self.type(node.type);
  }
  void operator()(const CallableNode &node) const { self.add(list, Kind::Callable, node)->callable = self.callable(node); }
};

void Converter::statement(std::vector<ast::StmtPtr> &list, const Statement &node) {
  boost::apply_visitor(StatementVisitor{*this, list}, node);
}

} // namespace tenon::syntax
