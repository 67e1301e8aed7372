// A picture of a program whose names hold what the language of pictures means something by: the text of a specification cannot
// have them, other makers of programs can.
#include "frontend/graph/Print.h"
#include <cstdio>

int main() {
  const std::string odd = "a\"b\\c\nd\te]; \"x\" -> \"y";
  tenon::Program program;
  program.model = odd;
  tenon::Entry entry;
  entry.kind = tenon::Entry::Kind::Out;
  entry.name = odd;
  entry.dims = {odd};
  entry.dimUpperBound = {tenon::Size(-1)};
  entry.axes = {{odd, tenon::Size::dim(0)}};
  entry.inputs.push_back({odd, {tenon::Element::Real, {0}, {}}, false, {}});
  tenon::Node input, state, sum;
  input.op = tenon::Op::Input;
  state.op = tenon::Op::State;
  sum.op = tenon::Op::Add;
  for (tenon::Node *node : {&input, &state, &sum})
    node->type = {tenon::Element::Real, {0}, {}};
  sum.operands = {0, 1};
  entry.nodes = {input, state, sum};
  tenon::State kept;
  kept.path = odd;
  entry.states = {kept};
  entry.results = {{odd, 2}};
  entry.nextStates = {{0, 2}};
  program.entries = {entry};
  fputs(tenon::drawGraph(program).c_str(), stdout);
}
