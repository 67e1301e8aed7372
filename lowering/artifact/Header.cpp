#include "lowering/artifact/Header.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace json = llvm::json;

namespace tenon {
namespace {

/// "step.h.*.content.key" as part of a C name.
std::string identifier(llvm::StringRef name) {
  std::string result;
  for (char c : name)
    if (llvm::isAlnum(c) || c == '_')
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  return result;
}

std::string sizeText(const json::Value &size) {
  if (auto number = size.getAsInteger())
    return std::to_string(*number);
  const json::Object &form = *size.getAsObject();
  std::string text;
  for (auto &[dim, coefficient] : *form.getObject("terms")) {
    int64_t factor = *coefficient.getAsInteger();
    std::string term = factor == 1 ? dim.str() : llvm::formatv("{0}*{1}", factor, dim.str()).str();
    text += text.empty() ? term : " + " + term;
  }
  int64_t constant = *form.getInteger("const");
  return constant == 0 ? text : llvm::formatv("{0}{1}{2}", text, constant < 0 ? " - " : " + ", std::abs(constant)).str();
}

/// "f32[B, T, V = 256]"
std::string typeText(const json::Object &tensor) {
  std::string text = tensor.getString("dtype")->str() + "[";
  const json::Array &axes = *tensor.getArray("axes"), &shape = *tensor.getArray("shape");
  for (size_t i = 0; i < axes.size(); ++i) {
    std::string axis = axes[i].getAsString()->str(), size = sizeText(shape[i]);
    text += (i ? ", " : "") + axis + (size == axis ? "" : " = " + size);
  }
  return text + "]";
}

/// " x 2 x 3" of what a stack has once per layer.
std::string stackText(const json::Object &object) {
  std::string text;
  if (const json::Array *stack = object.getArray("stack"))
    for (const json::Value &count : *stack)
      text += " x " + std::to_string(*count.getAsInteger());
  return text;
}

/// The names that the header has given. Paths that differ in a dot alone (`a.b`, `a_b`) are one name in C: the second gets a
/// number.
class Names {
public:
  std::string add(const std::string &wanted) {
    std::string name = wanted;
    for (int count = 2; !used.insert(name).second; ++count)
      name = wanted + "_" + std::to_string(count);
    return name;
  }

private:
  std::set<std::string> used;
};

/// One enumeration: the position of each item in the entry's list, then how many there are.
void writePositions(llvm::raw_ostream &out, Names &names, const std::string &prefix, llvm::StringRef what, llvm::StringRef plural,
                    const json::Array &items) {
  out << "enum {\n";
  for (auto [i, item] : llvm::enumerate(items)) {
    const json::Object &object = *item.getAsObject();
    const std::string path = object.getString("name")->str(), wanted = prefix + "_" + what.str() + "_" + identifier(path),
                      name = names.add(wanted);
    out << "  " << name << " = " << i << ",";
    if (object.getString("dtype"))
      out << " /* " << (name == wanted ? "" : path + " ") << typeText(object) << stackText(object) << " */";
    out << "\n";
  }
  out << "  " << names.add(prefix + "_" + plural.str()) << " = " << items.size() << "\n};\n";
}

/// The inputs of a context: of an entry that walks also those that its first call prepares the others from.
json::Array inputsOf(const json::Object &entry, const json::Array &entries) {
  json::Array inputs = *entry.getArray("inputs");
  const auto prepare = entry.getString("prepare");
  for (const json::Value &other : entries)
    if (prepare && other.getAsObject()->getString("name") == prepare)
      inputs.insert(inputs.end(), other.getAsObject()->getArray("inputs")->begin(),
                    other.getAsObject()->getArray("inputs")->end());
  return inputs;
}

} // namespace

std::string writeHeader(llvm::StringRef manifest) {
  json::Value value = llvm::cantFail(json::parse(manifest));
  const json::Object &model = *value.getAsObject();
  std::string name = identifier(*model.getString("name"));
  std::string guard = "TENON_MODEL_" + llvm::StringRef(name).upper() + "_H";
  if (llvm::isDigit(name.front()))
    name = "_" + name;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "/* Model " << *model.getString("model") << ", " << *model.getString("dtype") << ", written by "
      << *model.getString("tool") << ". For use with <tenon/runtime.h>: names of entries, positions of their dims,\n"
      << " * inputs, outputs and states, sizes of parameters. Data types: f32 float, f64 double, i32 int32_t, bool one byte. */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n";
  out << "/* The library beside this file has it as TnArtifact::build_id. */\n#define " << name << "_build_id \""
      << *model.getString("build_id") << "\"\n";
  Names names;
  names.add(name + "_build_id");
  for (const json::Value &item : *model.getArray("entries")) {
    const json::Object &entry = *item.getAsObject();
    std::string prefix = names.add(name + "_" + identifier(*entry.getString("name")));
    out << "\n#define " << prefix << " \"" << *entry.getString("name") << "\" /* " << *entry.getString("kind") << " */\n";
    writePositions(out, names, prefix, "dim", "dims", *entry.getArray("dims"));
    writePositions(out, names, prefix, "in", "ins", inputsOf(entry, *model.getArray("entries")));
    writePositions(out, names, prefix, "out", "outs", *entry.getArray("outputs"));
    writePositions(out, names, prefix, "state", "states", *entry.getArray("states"));
    if (const json::Object *groups = entry.getObject("groups"))
      out << "enum { " << names.add(prefix + "_groups") << " = " << *groups->getInteger("count")
          << " }; /* of gradients, in the order in which a run finishes them */\n";
    if (const json::Object *slices = entry.getObject("slices"))
      out << "enum { " << names.add(prefix + "_slices") << " = " << *slices->getInteger("count")
          << " }; /* of a batch: sizes above are those of one, a context has them all along " << *slices->getString("axis")
          << " */\n";
  }
  out << "\n/* Parameters: a * stands for each number below the size of its stack.\n";
  for (const json::Value &item : *model.getArray("params")) {
    const json::Object &parameter = *item.getAsObject();
    out << " *   " << *parameter.getString("name") << " [";
    for (auto [i, size] : llvm::enumerate(*parameter.getArray("shape")))
      out << (i ? ", " : "") << sizeText(size);
    out << "]" << stackText(parameter) << "\n";
  }
  out << " */\n#endif\n";
  return text;
}

} // namespace tenon
