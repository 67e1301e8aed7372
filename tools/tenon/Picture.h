// Files that pictures are written to.
#pragma once
#include "runtime/base/Status.h"
#include <string>

namespace tenon::driver {

/// A usage error unless the name ends with .svg or .html.
runtime::Status checkPictureName(const std::string &path);
/// An SVG text into a file of its own, or into a page.
runtime::Status writePicture(const std::string &path, const std::string &title, const std::string &picture);

} // namespace tenon::driver
