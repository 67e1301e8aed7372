// The text of a syntax tree. It is itself a specification with the same tree: one name per statement, every operator in
// parentheses.
#include "frontend/syntax/Parse.h"
#include <charconv>

namespace tenon {
namespace {

using namespace ast;

class Printer {
public:
  std::string text;

  void file(const File &file) {
    for (const Item &item : file.items) {
      switch (item.kind) {
      case Item::Kind::Import:
        line("import \"" + item.import.path + "\"");
        break;
      case Item::Kind::Model:
        line("model " + item.model->name.text + " {");
        block(item.model->body);
        break;
      case Item::Kind::Callable:
        callable(*item.callable);
        break;
      case Item::Kind::Recipe:
        recipe(*item.recipe);
        break;
      }
    }
  }

private:
  void line(const std::string &content) { text += std::string(2 * depth, ' ') + content + '\n'; }
  void block(const std::vector<StmtPtr> &body) {
    ++depth;
    for (const StmtPtr &entry : body)
      statement(*entry);
    --depth;
    line("}");
  }

  static std::string join(const std::vector<Name> &names) {
    std::string result;
    for (const Name &name : names)
      result += (result.empty() ? "" : ", ") + name.text;
    return result;
  }
  std::string join(const std::vector<ExprPtr> &values) {
    std::string result;
    for (const ExprPtr &value : values)
      result += (result.empty() ? "" : ", ") + expression(*value);
    return result;
  }

  void recipe(const Recipe &recipe) {
    static const char *words[] = {"train ", "generate ", "names "};
    line(words[static_cast<int>(recipe.kind)] + recipe.owner.text + " as " + recipe.name.text + " {");
    ++depth;
    for (const Setting &setting : recipe.settings) {
      if (setting.isBind) {
        std::string list;
        for (auto &[name, value] : setting.bindings)
          list += (list.empty() ? "bind " : ", ") + name.text + " = " + expression(*value);
        line(list);
      } else {
        std::string quote = setting.keyIsString ? "\"" : "";
        line(quote + setting.key.text + quote + " = " + expression(*setting.value));
      }
    }
    --depth;
    line("}");
  }

  void callable(const Callable &node) {
    std::string head = (node.isLayer ? "layer " : "fn ") + node.name.text;
    for (size_t i = 0; i < node.formals.size(); ++i) {
      const Formal &formal = node.formals[i];
      head += (i == 0 ? "[" : ", ") + formal.name.text + (formal.output ? " -> " + formal.output->text : "");
    }
    head += node.formals.empty() ? "(" : "](";
    for (size_t i = 0; i < node.parameters.size(); ++i)
      head += (i == 0 ? "" : ", ") + node.parameters[i].name.text + ": " + type(node.parameters[i].type);
    head += ") -> ";
    std::string results;
    for (const Type &result : node.results)
      results += (results.empty() ? "" : ", ") + type(result);
    line(head + (node.results.size() == 1 ? results : "(" + results + ")") + " {");
    block(node.body);
  }

  std::string type(const Type &type) {
    std::string result = type.element == "real" && !type.bound ? "" : type.element; // a bound alone would be no type
    if (type.bound)
      result += "(" + expression(*type.bound) + ")";
    if (type.hasShape)
      result += "[" + join(type.axes) + "]";
    return result.empty() ? type.element : result;
  }

  void statement(const Stmt &node) {
    using Kind = Stmt::Kind;
    const std::string &name = node.name.text;
    auto value = [&] { return expression(*node.value); };
    auto typed = [&](const char *word) { return word + name + ": " + type(*node.type); };
    switch (node.kind) {
    case Kind::Bad:
      return line("# a statement that could not be read");
    case Kind::Config:
      return line("config " + name + " = " + value());
    case Kind::Dim:
      return line("dim " + name + (node.op == 0 ? "" : (node.op == '<' ? " <= " : " = ") + value()));
    case Kind::Require:
      return line("require " + value() + (node.message.empty() ? "" : " \"" + node.message + "\""));
    case Kind::In:
      return line(typed("in "));
    case Kind::Param:
      return line(typed("param ") + " " + node.op + " " + value());
    case Kind::State:
      return line(typed("state ") + " = " + value());
    case Kind::Carry:
      return line(typed("carry ") + " = " + value());
    case Kind::Next:
      return line("next " + name + " = " + value());
    case Kind::Loss:
      return line("loss " + name + " = " + value());
    case Kind::Metric:
      return line("metric " + name + " = " + value());
    case Kind::Until:
      return line("until " + value());
    case Kind::Return:
    case Kind::Yield:
      return line((node.kind == Kind::Return ? "return " : "yield ") + join(node.values));
    case Kind::Use:
      return use(node);
    case Kind::Let:
      return line("let " + (node.names.size() == 1 ? join(node.names) : "(" + join(node.names) + ")") +
                  (node.type ? ": " + type(*node.type) : "") + " = " + value());
    case Kind::Out:
      return line("out " + name + (node.walked.empty() ? "" : "(" + join(node.walked) + ")") + " = " + join(node.names));
    case Kind::Callable:
      return callable(*node.callable);
    }
  }

  void use(const Stmt &node) {
    std::string result = "use " + node.name.text + " = ";
    if (node.repeat != Stmt::Repeat::None)
      result += (node.repeat == Stmt::Repeat::Stack ? "stack[" : "loop[") + expression(*node.count) + "] ";
    result += node.layer.text;
    if (!node.axisOps.empty())
      result += axisOps(node.axisOps);
    if (!node.arguments.empty())
      result += arguments(node.arguments);
    line(result);
  }

  static std::string axes(const std::vector<AxisTerm> &terms) {
    std::string result;
    for (const AxisTerm &term : terms)
      result += (term.op ? std::string(" ") + term.op + " " : "") + term.name.text;
    return result;
  }
  std::string axisOps(const std::vector<AxisOp> &list) {
    std::string result;
    for (const AxisOp &op : list) {
      result += (result.empty() ? "[" : ", ") + axes(op.from);
      if (op.low)
        result += ": " + expression(*op.low);
      if (op.high || op.openEnd)
        result += " .." + (op.high ? " " + expression(*op.high) : "");
      if (!op.to.empty())
        result += " -> " + axes(op.to);
    }
    return result + "]";
  }
  std::string arguments(const std::vector<Argument> &list) {
    std::string result;
    for (const Argument &argument : list)
      result +=
          (result.empty() ? "(" : ", ") + (argument.keyword ? argument.keyword->text + " = " : "") + expression(*argument.value);
    return result.empty() ? "()" : result + ")";
  }

  static std::string real(double value) {
    char buffer[40];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string result(buffer, end);
    return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
  }

  std::string expression(const Expr &node) {
    using Kind = Expr::Kind;
    const auto &operands = node.operands;
    switch (node.kind) {
    case Kind::Int:
      return std::to_string(node.integer);
    case Kind::Real:
      return real(node.real);
    case Kind::String:
      return "\"" + node.text + "\"";
    case Kind::Name:
      return node.text;
    case Kind::Tuple:
      return "(" + join(operands) + ")";
    case Kind::Neg:
      return "(-" + expression(*operands[0]) + ")";
    case Kind::Not:
      return "(not " + expression(*operands[0]) + ")";
    case Kind::Binary:
      return "(" + expression(*operands[0]) + " " + node.text + " " + expression(*operands[1]) + ")";
    case Kind::If:
      return "(if " + expression(*operands[0]) + " then " + expression(*operands[1]) + " else " + expression(*operands[2]) + ")";
    case Kind::AxisOps:
      return expression(*operands[0]) + axisOps(node.axisOps);
    case Kind::Call:
      return expression(*operands[0]) + arguments(node.arguments);
    case Kind::Member:
      return expression(*operands[0]) + "." + node.text;
    case Kind::Attend:
      return attend(node);
    case Kind::Scan:
      return scan(node);
    }
    return {};
  }

  static std::string binders(const Expr &node) {
    std::string result;
    for (const Binder &binder : node.binders)
      result += (result.empty() ? "(" : ", ") + binder.name.text + ": " + binder.axis.text;
    return result + ")";
  }
  std::string attend(const Expr &node) {
    static const char *words[] = {"score ", "scale ", "mask ", "drop ", "value "};
    std::string result = "attend" + binders(node) + " {\n";
    ++depth;
    for (const AttendItem &item : node.items)
      result += std::string(2 * depth, ' ') + words[static_cast<int>(item.kind)] + (item.name ? item.name->text + " = " : "") +
                expression(*item.value) + "\n";
    --depth;
    return result + std::string(2 * depth, ' ') + "}";
  }
  std::string scan(const Expr &node) {
    Printer inner;
    inner.depth = depth;
    inner.block(node.body);
    inner.text.pop_back();
    return "scan" + binders(node) + " {\n" + inner.text;
  }

  unsigned depth = 0;
};

} // namespace

std::string print(const ast::File &file) {
  Printer printer;
  printer.file(file);
  return printer.text;
}

} // namespace tenon
