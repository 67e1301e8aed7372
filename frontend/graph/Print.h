// The graph of a checked program as text and as a picture.
#pragma once
#include "frontend/Program.h"
#include <string>

namespace tenon {

/// The name of an op in both.
const char *nameOf(Op op);
/// `--emit=checked`: text of one entry's graph, for tests.
std::string print(const Program &program, const Entry &entry);
/// `--emit=graph`: all entries as a picture, a text for Graphviz.
std::string drawGraph(const Program &program);

} // namespace tenon
