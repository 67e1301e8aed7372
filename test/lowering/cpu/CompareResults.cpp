#include "test/lowering/cpu/KernelRun.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;

namespace tenon::test {

/// Units in the last place of f32; results below the normal range are flushed to 0.
static double errorInUlps(double got, double wanted) {
  if (std::fabs(wanted) > 3.4028235e38)
    wanted = std::copysign(INFINITY, wanted);
  if (got == wanted || std::fabs(wanted) < 1.17549435e-38)
    return std::fabs(got) <= 1.1754944e-38 || got == wanted ? 0 : INFINITY;
  int exponent;
  std::frexp(wanted, &exponent);
  return std::fabs(got - wanted) / std::ldexp(1.0, exponent - 24);
}

bool compare(const std::string &what, const Results &got, const Results &expected, Allowed allowed) {
  const double ulps = allowed.ulps;
  bool good = true;
  for (auto &[name, value] : expected.named) {
    auto &[element, bytes] = value;
    const size_t count = bytes.size() / 8;
    Numbers wanted = load(Float64Type::get(element.getContext()), bytes.data(), count);
    Numbers found = load(element, got.named.at(name).second.data(), count);
    double largest = 0;
    size_t where = 0;
    for (size_t i = 0; i < count; ++i) {
      double error = std::isnan(wanted[i]) && std::isnan(found[i]) ? 0
                     : wanted[i] == found[i] ? 0
                                             : std::fabs(wanted[i] - found[i]) / std::max(1.0, std::fabs(wanted[i]));
      if (ulps > 0 && !(std::isnan(wanted[i]) && std::isnan(found[i])))
        error = errorInUlps(found[i], wanted[i]);
      if (!(error <= largest))
        largest = std::isnan(error) ? INFINITY : error, where = i;
    }
    if (ulps > 0)
      llvm::outs() << what << ": largest error of " << name << " " << llvm::format("%.3f", largest) << " ulp\n";
    if (largest > (ulps > 0 ? ulps : allowed.tolerance)) {
      llvm::outs() << what << ": " << name << "[" << where << "] is " << found[where] << ", expected " << wanted[where] << "\n";
      good = false;
    }
  }
  return good;
}

} // namespace tenon::test
