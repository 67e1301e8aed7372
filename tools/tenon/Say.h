// What the commands print where names, paths and texts from outside may be a part of it: nothing in them reaches a terminal but
// text.
#pragma once
#include <string>

namespace tenon::driver {

/// printf to the standard output.
void show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// "tenon: .." on stderr: what a command has to say that is no error.
void note(const std::string &text);

} // namespace tenon::driver
