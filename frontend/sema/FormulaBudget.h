// How much of a formula over scalars an evaluation over several batches takes apart. Subterms are shared in the graph and written out where they are
// kept (Average, the manifest): `let y1 = y0 * y0 + y0` twenty times is a million terms.
#pragma once
#include "frontend/Program.h"

namespace tenon::sema {

class FormulaBudget {
public:
  explicit FormulaBudget(const Entry &entry);
  /// Whether a result may be taken apart: written out it has at most kMostTerms terms and kMostLevels levels, and those allowed before leave room for it.
  bool allows(NodeId result);

  static constexpr uint32_t kMostTerms = 400, kMostTermsOfAll = 5000;
  static constexpr uint32_t kMostLevels = 24; // a manifest nests them twice as deep, a reader takes 64 levels of JSON

private:
  std::vector<uint32_t> terms, levels; // of each node; terms at most kMostTerms + 1
  uint32_t allowed = 0;
};

} // namespace tenon::sema
