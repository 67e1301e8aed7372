// What may be spent on one compilation, and every mistake once.
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// About a second and 300 MB on the machines of today; GPT-2 and its recipes take 4,000, XLNet 9,000.
constexpr uint64_t kMostUnits = 800'000;

bool Session::spend(ast::Range place, uint64_t units) {
  spent += units;
  if (spent > kMostUnits && mayGoOn()) {
    if (auto *mistake = error("T0418", place, "checking this specification takes too many steps; the rest is not looked at"))
      mistake->notes.push_back(
          {"note", "layers and functions are gone through once per use, a body under stack[...] once per choice of `if depth`"});
    stopped = true;
  }
  return mayGoOn();
}

constexpr uint64_t kMostProofUnits = 600'000;

bool Session::spendProof(ast::Range place, uint64_t units) {
  spentOnProofs += units;
  if (spentOnProofs > kMostProofUnits && mayGoOn()) {
    error("T0221", place,
          "proving that the indices up to here stay inside their axes takes too many steps; the rest is not looked at");
    stopped = true;
  }
  return mayGoOn();
}

void Session::reportChain(ast::Range place) {
  if (mayGoOn())
    error("T0419", place, "too many definitions need each other here, one inside the other");
  stopped = true;
}

Diagnostic *Session::error(const char *code, ast::Range range, std::string message, std::string label) {
  if (stopped) // what comes now is missing because nobody looked
    return nullptr;
  if (!reported.insert({code, range.file, range.begin, range.end}).second)
    return nullptr;
  Diagnostic &mistake = diagnostics.error(code, range, std::move(message), std::move(label));
  return diagnostics.full() ? nullptr : &mistake; // no search for what may be meant, if nobody reads it
}

Diagnostic *Session::warning(const char *code, ast::Range range, std::string message, std::string label) {
  if (!reported.insert({code, range.file, range.begin, range.end}).second)
    return nullptr;
  return &diagnostics.warning(code, range, std::move(message), std::move(label));
}

} // namespace tenon::sema
