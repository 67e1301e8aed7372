// "not supported yet" of checked graphs: said by `tenon check` from here, and by the generation of MLIR as its last guard.
#include "frontend/sema/Supported.h"
#include <algorithm>
#include <set>

namespace tenon {
namespace {

/// The construct that no code is made for; null if there is some.
const char *refused(const Entry &entry, const Node &node) {
  switch (node.op) {
  case Op::Scan:
    return "scan";
  case Op::Window:
    return "window";
  case Op::Top:
    return "top";
  case Op::Sample:
    return "sample";
  case Op::Stack:
    return entry.stacks[node.index].count.isConstant() ? nullptr : "a stack whose height is not a number";
  default:
    return nullptr;
  }
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
}

} // namespace tenon
