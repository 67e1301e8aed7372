// Pages of the codes of the grammar, T0001..T0099.
#include "frontend/Explain.h"

namespace tenon {

const ExplainPages &explainSyntax() {
  static const ExplainPages pages = {
      {"T0001", "unexpected text",
       "Something else has to stand here. The message names what the grammar expects at this place and what it found.",
       "use blocks = stack(4) Block", "use blocks = stack[4] Block"},
  };
  return pages;
}

} // namespace tenon
