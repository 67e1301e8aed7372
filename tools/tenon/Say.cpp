#include "tools/tenon/Say.h"
#include "runtime/base/Printable.h"
#include "tools/compiler/CommandLine.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace tenon::driver {

void show(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::max(0, vsnprintf(nullptr, 0, format, arguments))) + 1, '\0');
  vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  va_end(arguments);
  text.pop_back();
  fputs(runtime::printable(text).c_str(), stdout);
}

void note(const std::string &text) { fprintf(stderr, "tenon: %s\n", runtime::printable(text).c_str()); }

} // namespace tenon::driver

void tenon::compiler::complain(const std::string &message) {
  fprintf(stderr, "tenon: error: %s\n", runtime::printable(message).c_str());
}
