// Options that other training commands have, and what stands for them here.
#pragma once
#include <string>

namespace tenon::driver {

/// "the recipe says epochs = 3; ..": what to write in place of an option that `command` does not have. Empty if nothing is known
/// of it.
std::string adviceFor(const std::string &command, const std::string &option);

} // namespace tenon::driver
