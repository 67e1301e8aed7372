// Fuzzing of the grammar. LLVMFuzzerTestOneInput takes any bytes, so libFuzzer and AFL can drive it (-DTENON_LIBFUZZER leaves
// main out); main is a driver of its own with a mutator that knows the language.
//   parser-fuzz [--runs N] [--seed S] [--only I] [--plant FAULT] SPEC...
// Exit code 0 only if every input was handled and at least half of them parsed. `--plant` proves that the checks work: overflow
// (a read behind a buffer), range (a node outside the text), print (a wrong printed tree), slow (an input over the time limit).
#include "SpecMutator.h"
#include "frontend/explain/Explain.h"
#include "frontend/syntax/Parse.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace tenon;

namespace {

constexpr double kSecondsPerInput = 2; // the slowest of 20,000 inputs takes 0.5 s under the sanitizers on a busy machine

std::string plant;
std::string current;           // the input at work, for the report of a crash
size_t seed = 1, position = 0; // of the input

[[noreturn]] void fail(const char *reason) {
  std::fprintf(stderr, "parser-fuzz: %s at --seed %zu --only %zu; the input is:\n%.*s\n", reason, seed, position,
               static_cast<int>(std::min<size_t>(current.size(), 2000)), current.data());
  std::_Exit(1);
}

/// Every range lies in the text and every expression inside the one around it.
class RangeCheck {
public:
  explicit RangeCheck(size_t size) : size(size) {}
  void file(const ast::File &file) {
    for (const ast::Item &item : file.items) {
      if (item.model)
        body(item.model->body);
      if (item.callable)
        callable(*item.callable);
      if (item.recipe)
        for (const ast::Setting &setting : item.recipe->settings) {
          if (setting.value)
            expression(*setting.value, setting.range);
          for (auto &[name, value] : setting.bindings)
            expression(*value, setting.range);
        }
    }
  }

private:
  void range(const ast::Range &range) const {
    if (range.begin > range.end || range.end > size)
      fail("a node has a range outside the text");
  }
  void within(const ast::Range &inner, const ast::Range &outer) const {
    range(inner);
    if (inner.begin < outer.begin || inner.end > outer.end)
      fail("a node is not inside its parent");
  }
  void body(const std::vector<ast::StmtPtr> &statements) {
    for (const ast::StmtPtr &statement : statements) {
      range(statement->range);
      if (statement->kind == ast::Stmt::Kind::Bad)
        continue;
      if (statement->value)
        expression(*statement->value, statement->range);
      for (const ast::ExprPtr &value : statement->values)
        expression(*value, statement->range);
      parts(statement->axisOps, statement->arguments, statement->range);
      if (statement->callable)
        callable(*statement->callable);
    }
  }
  void callable(const ast::Callable &node) {
    range(node.name.range);
    body(node.body);
  }
  void parts(const std::vector<ast::AxisOp> &axisOps, const std::vector<ast::Argument> &arguments, const ast::Range &outer) {
    for (const ast::AxisOp &op : axisOps) {
      within(op.range, outer);
      if (op.low)
        expression(*op.low, op.range);
      if (op.high)
        expression(*op.high, op.range);
    }
    for (const ast::Argument &argument : arguments)
      expression(*argument.value, outer);
  }
  void expression(const ast::Expr &node, const ast::Range &outer) {
    if (++depth > 600)
      fail("the tree is deeper than its limit");
    within(node.range, outer);
    for (const ast::ExprPtr &operand : node.operands)
      expression(*operand, node.range);
    parts(node.axisOps, node.arguments, node.range);
    for (const ast::AttendItem &item : node.items)
      expression(*item.value, item.range);
    body(node.body);
    --depth;
  }

  size_t size;
  unsigned depth = 0;
};

/// What --set gives to the parser: everything behind the first "=".
void checkExpression(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"--set", text.substr(std::min(text.size(), text.find('=') + 1))});
  Diagnostics diagnostics;
  bool parsed = parseExpression(sources, 0, diagnostics) != nullptr;
  if (parsed == diagnostics.hasErrors())
    fail("an expression is missing without a mistake, or there is one with a mistake");
}

bool check(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"input.tn", text});
  Diagnostics diagnostics;
  ast::File file = parse(sources, 0, diagnostics);
  checkExpression(text);
  if (plant == "overflow") {
    std::vector<char> copy(text.begin(), text.end());
    volatile char *behind = copy.data() + copy.size();
    volatile char read = *behind;
    (void)read;
  }
  if (plant == "slow")
    std::this_thread::sleep_for(std::chrono::duration<double>(kSecondsPerInput * 1.2));
  RangeCheck(plant == "range" ? text.size() / 4 : text.size()).file(file);
  if (diagnostics.hasErrors()) {
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.range.end > text.size() || explanation(diagnostic.code).empty())
        fail("a message without a place or a page");
    if (renderText(sources, diagnostics, true).empty() || renderJson(sources, diagnostics).empty())
      fail("a mistake without a text");
    return false;
  }
  std::string printed = print(file);
  SourceFiles again;
  again.files.push_back({"printed.tn", printed});
  std::string second = print(parse(again, 0, diagnostics));
  // The parentheses that print() writes nest, so a tree near the limit prints to a text beyond it.
  if (diagnostics.hasErrors() && diagnostics.all().front().code == "T0009")
    return true;
  if (diagnostics.hasErrors() || second != (plant == "print" ? printed + " " : printed))
    fail("the printed tree is not the same tree");
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  current.assign(reinterpret_cast<const char *>(data), size);
  check(current);
  return 0;
}

#ifndef TENON_LIBFUZZER
extern "C" void __asan_set_death_callback(void (*)()) __attribute__((weak));

int main(int argc, char **argv) {
  size_t runs = 20000, only = ~size_t{0};
  fuzz::SpecMutator mutator;
  for (int i = 1; i < argc; ++i) {
    auto option = [&](const char *name) { return !std::strcmp(argv[i], name) && i + 1 < argc; };
    if (option("--runs")) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (option("--seed")) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (option("--only")) {
      only = std::strtoull(argv[++i], nullptr, 10);
    } else if (option("--plant")) {
      plant = argv[++i];
    } else {
      std::ifstream stream(argv[i], std::ios::binary);
      if (!stream) {
        std::fprintf(stderr, "parser-fuzz: cannot read %s\n", argv[i]);
        return 2;
      }
      mutator.addFile(std::string(std::istreambuf_iterator<char>(stream), {}));
    }
  }
  if (mutator.seeds() == 0) {
    std::fprintf(stderr, "parser-fuzz: no seeds\n");
    return 2;
  }
  if (__asan_set_death_callback)
    __asan_set_death_callback([] { fail("the sanitizer stopped the parser"); });
  size_t parsed = 0, broken = 0, bytes = 0, begin = only == ~size_t{0} ? 0 : only, end = only == ~size_t{0} ? runs : only + 1;
  double slowest = 0;
  size_t slowestPosition = 0;
  for (position = begin; position < end; ++position) {
    fuzz::Random random(seed * 1000003 + position);
    bool wrecked = false;
    current = mutator.make(random, wrecked);
    broken += wrecked;
    bytes += current.size();
    alarm(30); // a hang ends the process with SIGALRM
    auto start = std::chrono::steady_clock::now();
    parsed += check(current);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > kSecondsPerInput)
      fail("an input takes too long");
    if (seconds > slowest) {
      slowest = seconds;
      slowestPosition = position;
    }
  }
  size_t count = end - begin;
  std::printf(
      "inputs %zu, parsed %zu (%.1f %%), broken on purpose %zu, mean %zu bytes, slowest %.1f ms (--only %zu), seeds %zu\n", count,
      parsed, 100.0 * parsed / count, broken, bytes / count, slowest * 1e3, slowestPosition, mutator.seeds());
  if (2 * parsed < count && only == ~size_t{0}) {
    std::fprintf(stderr, "parser-fuzz: fewer than half of the inputs parse, so little behind the grammar was reached\n");
    return 1;
  }
  return 0;
}
#endif
