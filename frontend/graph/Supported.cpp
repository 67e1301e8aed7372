// "not supported yet" of checked graphs: said by `tenon check` from here, and by the generation of MLIR as its last guard.
#include "frontend/graph/Supported.h"
#include "frontend/proofs/PlainBounds.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon {
namespace {

/// Whether a body of the stack, or of one inside of it, sets states: of attention maps, one for each depth.
bool setsStates(const Entry &entry, uint32_t stack) {
  for (uint32_t body = 0; body < entry.stacks.size(); ++body)
    if (!entry.stacks[body].nextStates.empty())
      for (uint32_t around = body; around != ~0u; around = entry.stacks[around].parent)
        if (around == stack)
          return true;
  return false;
}

/// The construct that no code is made for; null if there is some.
const char *refused(const Entry &entry, const Node &node) {
  if (node.op != Op::Stack && node.op != Op::Scan)
    return nullptr;
  unsigned levels = 0;
  for (uint32_t stack = node.index; stack != ~0u; stack = entry.stacks[stack].parent)
    ++levels;
  static_assert(kMostNestedStacks == 8);
  if (levels > kMostNestedStacks)
    return "more than 8 stacks and loops in each other";
  if (!entry.stacks[node.index].total.isConstant() && setsStates(entry, node.index))
    return "attention maps of a loop whose rounds are counted at run time; give its size with --bind";
  return nullptr;
}

/// A whole number of a tensor has 32 bits. A number that becomes a real one is a real constant by now.
std::optional<int64_t> tooWide(const Node &node) {
  auto isWide = [](int64_t value) { return value > INT32_MAX || value < INT32_MIN; };
  if (node.op == Op::Constant && node.type.element == Element::Int && isWide(node.integer))
    return node.integer;
  if (node.op != Op::SizeValue)
    return std::nullopt;
  for (const auto &[dim, coefficient] : node.size.coefficients())
    if (isWide(coefficient))
      return coefficient;
  return isWide(node.size.constant()) ? std::optional<int64_t>(node.size.constant()) : std::nullopt;
}

} // namespace

void reportUnsupported(const Node &node, const std::string &what, Diagnostics &diagnostics) {
  auto same = [](const ast::Range &a, const ast::Range &b) { return a.file == b.file && a.begin == b.begin && a.end == b.end; };
  const ast::Range place = node.caller.end ? node.caller : node.range; // what the derivation of a step has made has none
  std::string message = "not supported yet: " + what;
  for (const Diagnostic &known : diagnostics.all())
    if (known.code == "T0901" && same(known.range, place) && known.message == message)
      return;
  Diagnostic &mistake = diagnostics.error("T0901", place, std::move(message));
  if (!same(place, node.range))
    mistake.related.push_back({node.range, "needed here"});
}

void reportUnsupported(const Entry &entry, Diagnostics &diagnostics) {
  for (const Node &node : entry.nodes)
    if (const char *what = refused(entry, node))
      reportUnsupported(node, what, diagnostics);
    else if (node.op != Op::ToReal) // a constant has no place: that of what reads it
      for (NodeId operand : node.operands)
        if (auto number = tooWide(entry.nodes[operand]))
          reportUnsupported(node, "the whole number " + std::to_string(*number) + " in a tensor; these have 32 bits",
                            diagnostics);
}

void warnOfWideNumbers(const Entry &entry, Diagnostics &diagnostics) {
  const ProofHints none;
  PlainBounds bounds(entry, none, PlainBounds::Numbers::Of32Bits);
  for (NodeId id = 0; id < entry.nodes.size(); ++id)
    if (entry.nodes[id].type.element == Element::Int)
      bounds.of(id);
  for (const auto &[id, most] : bounds.beyond()) {
    const Node &node = entry.nodes[id];
    const ast::Range place = node.caller.end ? node.caller : node.range;
    auto isSame = [&](const Diagnostic &known) {
      return known.code == "T0118" && known.range.file == place.file && known.range.begin == place.begin;
    };
    if (std::any_of(diagnostics.all().begin(), diagnostics.all().end(), isSame))
      continue;
    Diagnostic &warning = diagnostics.warning(
        "T0118", place, "this whole number can be " + std::to_string(most) + ", and whole numbers have 32 bits: it wraps around");
    warning.notes.emplace_back("help", "`mod` before it is too large, or reals by real(..)");
  }
}

} // namespace tenon
