#include "frontend/syntax/Lexer.h"
#include "frontend/syntax/Parse.h"
#include "test/fuzz/TypedSpec.h"
#include <algorithm>
#include <fstream>

namespace tenon::fuzz {

namespace {

using Key = std::pair<uint32_t, uint32_t>;

std::string typeText(char element, std::vector<std::string> axes) {
  std::sort(axes.begin(), axes.end());
  std::string text(1, element);
  for (const std::string &axis : axes)
    text += (text.size() == 1 ? " " : ",") + axis;
  return text;
}

/// Of every expression of the file, by its range.
std::map<Key, TypedSpec::Types> typesOf(const Program &program, uint32_t file) {
  std::map<Key, TypedSpec::Types> types;
  for (const Entry &entry : program.entries)
    for (const Node &node : entry.nodes) {
      if (node.range.file != file || node.range.begin == node.range.end)
        continue;
      std::vector<std::string> axes;
      for (AxisId axis : node.type.axes)
        axes.push_back(entry.axes[axis].name);
      types[{node.range.begin, node.range.end}].insert(typeText("RIB"[int(node.type.element)], std::move(axes)));
    }
  return types;
}

void addWords(const std::string &text, std::set<std::string> &words) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (end > i)
      words.insert(text.substr(i, end - i));
    i = end + 1;
  }
}

} // namespace

/// Goes through the tree and collects what can be changed.
class TypedSpecReader {
public:
  TypedSpecReader(TypedSpec &spec, std::map<Key, TypedSpec::Types> types) : spec(spec), types(std::move(types)) {}

  void read() {
    for (const ast::Item &item : spec.file->items) {
      if (item.model) {
        spec.results.clear(); // of the last model
        const int body = open(TypedSpec::Body::Kind::Model, -1);
        spec.declared.insert(item.model->name.text);
        statements(item.model->body, body);
      }
      if (item.callable)
        callable(*item.callable, -1);
      if (item.recipe)
        for (const ast::Setting &setting : item.recipe->settings)
          strings(setting.value.get());
    }
  }

private:
  int open(TypedSpec::Body::Kind kind, int parent) {
    spec.bodies.push_back({kind, parent, {}});
    return int(spec.bodies.size()) - 1;
  }

  void strings(const ast::Expr *value) {
    if (!value)
      return;
    if (value->kind == ast::Expr::Kind::String)
      addWords(value->text, spec.foreign);
    for (const ast::ExprPtr &operand : value->operands)
      strings(operand.get());
    for (const ast::Argument &argument : value->arguments) {
      if (argument.keyword)
        spec.foreign.insert(argument.keyword->text);
      strings(argument.value.get());
    }
  }

  void callable(const ast::Callable &node, int parent) {
    const int body = open(node.isLayer ? TypedSpec::Body::Kind::Layer : TypedSpec::Body::Kind::Function, parent);
    spec.declared.insert(node.name.text);
    if (node.isLayer)
      spec.layers.push_back(&node);
    for (const ast::Typed &parameter : node.parameters)
      declare(parameter.name, parameter.type, body);
    statements(node.body, body);
  }

  void declare(const ast::Name &name, const ast::Type &type, int body) {
    spec.declared.insert(name.text);
    std::vector<std::string> axes;
    std::vector<ast::Range> ranges;
    for (const ast::Name &axis : type.axes) {
      axes.push_back(axis.text);
      ranges.push_back(axis.range);
    }
    if (std::find(axes.begin(), axes.end(), "..") != axes.end())
      return;
    const bool known = std::any_of(spec.axisLists.begin(), spec.axisLists.end(),
                                   [&](auto &list) { return !ranges.empty() && list[0].begin == ranges[0].begin; });
    if (ranges.size() > 1 && !known) // `a, b: [D, E]` are two declarations with one type
      spec.axisLists.push_back(ranges);
    const char element = type.element == "index" || type.element == "i32" ? 'I' : type.element == "bool" ? 'B' : 'R';
    spec.bodies[size_t(body)].names[name.text] = {typeText(element, std::move(axes))};
  }

  void statements(const std::vector<ast::StmtPtr> &list, int body) {
    for (const ast::StmtPtr &each : list)
      statement(*each, body);
  }

  void size(const ast::ExprPtr &value) {
    if (value && value->kind == ast::Expr::Kind::Int)
      spec.sizes.push_back(value->range);
  }

  void statement(const ast::Stmt &node, int body) {
    using Kind = ast::Stmt::Kind;
    here = node.range;
    switch (node.kind) {
    case Kind::Config:
    case Kind::Dim:
      spec.declared.insert(node.name.text);
      size(node.value);
      break;
    case Kind::In:
      spec.foreign.insert(node.name.text); // data tasks know it
      [[fallthrough]];
    case Kind::Param:
    case Kind::State:
      declare(node.name, *node.type, body);
      break;
    case Kind::Use:
      spec.declared.insert(node.name.text);
      spec.uses.push_back({&node, body});
      size(node.count);
      break;
    case Kind::Let:
      expression(node.value, body);
      if (node.names.size() == 1)
        let(node, body);
      break;
    case Kind::Next:
    case Kind::Loss:
    case Kind::Metric:
      expression(node.value, body);
      break;
    case Kind::Return:
      for (const ast::ExprPtr &value : node.values)
        expression(value, body);
      break;
    case Kind::Callable:
      callable(*node.callable, body);
      break;
    default: // of scans there is no code yet
      break;
    }
  }

  void let(const ast::Stmt &node, int body) {
    const std::string &name = node.names[0].text;
    spec.declared.insert(name);
    spec.lets.push_back({&node, body});
    const TypedSpec::Types known = typesOf(*node.value, body);
    if (known.empty())
      return;
    spec.bodies[size_t(body)].names[name] = known;
    if (spec.bodies[size_t(body)].kind == TypedSpec::Body::Kind::Model && known.begin()->front() == 'R')
      spec.results.push_back({name, known.begin()->size() == 1});
  }

  TypedSpec::Types typesOf(const ast::Expr &node, int body) const {
    if (node.kind == ast::Expr::Kind::Name) {
      for (; body >= 0; body = spec.bodies[size_t(body)].parent)
        if (auto found = spec.bodies[size_t(body)].names.find(node.text); found != spec.bodies[size_t(body)].names.end())
          return found->second;
      return {};
    }
    auto found = types.find({node.range.begin, node.range.end});
    return found == types.end() ? TypedSpec::Types() : found->second;
  }

  void expression(const ast::ExprPtr &node, int body) {
    if (!node)
      return;
    if (const TypedSpec::Types known = typesOf(*node, body); !known.empty())
      place(*node, body, known);
    using Kind = ast::Expr::Kind;
    if (node->kind == Kind::Call && node->operands[0]->kind == Kind::Name)
      spec.calls.push_back({node->operands[0]->text, node->operands[0]->range, body});
    else if (node->kind != Kind::Member)
      for (const ast::ExprPtr &operand : node->operands)
        expression(operand, body);
    for (const ast::Argument &argument : node->arguments)
      if (!argument.keyword) // rates and the like, which have to be numbers
        expression(argument.value, body);
    if (node->kind != Kind::Attend)
      return;
    const int inner = open(TypedSpec::Body::Kind::Binders, body);
    for (const ast::AttendItem &item : node->items)
      if (item.kind != ast::AttendItem::Kind::Drop && item.kind != ast::AttendItem::Kind::Scale)
        expression(item.value, inner);
  }

  void place(const ast::Expr &node, int body, const TypedSpec::Types &known) {
    TypedSpec::Place result{&node, here, body, known, {}, true};
    std::vector<std::string> common;
    bool first = true;
    for (const std::string &type : known) {
      std::set<std::string> axes;
      if (type.size() > 1)
        addWords(type.substr(2), axes);
      if (first)
        common.assign(axes.begin(), axes.end());
      std::erase_if(common, [&](const std::string &axis) { return !axes.count(axis); });
      result.isReal &= type[0] == 'R';
      first = false;
    }
    result.axes = std::move(common);
    spec.places.push_back(std::move(result));
  }

  TypedSpec &spec;
  std::map<Key, TypedSpec::Types> types;
  ast::Range here; // the statement
};

namespace {

/// Leaves out the recipes that hold one of the mistakes; false if there is none.
bool dropRecipes(std::string &text, const ast::File &file, const Diagnostics &diagnostics, const SourceFiles &sources,
                 const std::string &path) {
  std::vector<ast::Range> wrong;
  for (const ast::Item &item : file.items)
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (item.recipe && diagnostic.severity == Diagnostic::Severity::Error &&
          sources.files[diagnostic.range.file].path == path && diagnostic.range.begin >= item.recipe->range.begin &&
          diagnostic.range.end <= item.recipe->range.end && (wrong.empty() || wrong.back().begin != item.recipe->range.begin))
        wrong.push_back(item.recipe->range);
  for (size_t i = wrong.size(); i-- > 0;)
    text.erase(wrong[i].begin, wrong[i].end - wrong[i].begin);
  return !wrong.empty();
}

void forgetMistakes(Diagnostics &diagnostics, SourceFiles &sources) {
  diagnostics = {};
  sources = {};
}

} // namespace

std::optional<TypedSpec> TypedSpec::read(std::string text, CheckOptions options) {
  for (;;) {
    std::ofstream(options.path, std::ios::binary | std::ios::trunc) << text;
    SourceFiles alone, sources;
    alone.files.push_back({options.path, text});
    Diagnostics diagnostics;
    auto file = std::make_shared<ast::File>(parse(alone, 0, diagnostics));
    if (diagnostics.hasErrors())
      return std::nullopt;
    std::optional<Program> program;
    options.recipe.clear();
    for (const ast::Item &item : file->items)
      if (item.recipe && item.recipe->kind == ast::Recipe::Kind::Train)
        options.recipe = item.recipe->name.text;
    if (checkFile(options, sources, diagnostics)) {
      forgetMistakes(diagnostics, sources);
      program = check(options, sources, diagnostics);
    }
    if (!program && dropRecipes(text, *file, diagnostics, sources, options.path))
      continue;
    if (!program)
      return std::nullopt;
    TypedSpec spec;
    spec.text = text;
    spec.file = file;
    uint32_t own = 0;
    for (uint32_t i = 0; i < sources.files.size(); ++i) {
      if (sources.files[i].path == options.path)
        own = i;
      else
        addWords(sources.files[i].text, spec.foreign);
    }
    TypedSpecReader(spec, typesOf(*program, own)).read();
    return spec;
  }
}

} // namespace tenon::fuzz
