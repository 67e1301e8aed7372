#include "tools/tenon/Picture.h"
#include "runtime/base/File.h"
#include "tools/tenon/Chart.h"

namespace tenon::driver {

runtime::Status checkPictureName(const std::string &path) {
  return path.ends_with(".svg") || path.ends_with(".html") ? runtime::Status()
                                                           : runtime::usageError("--output is a .svg or .html file, not ", path);
}

runtime::Status writePicture(const std::string &path, const std::string &title, const std::string &picture) {
  if (runtime::Status status = checkPictureName(path); status.failed())
    return status;
  if (path.ends_with(".svg"))
    return runtime::replaceFile(path, picture);
  return runtime::replaceFile(path, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
                                        escapeXml(title) +
                                        "</title>\n<style>body { margin: 1em; color-scheme: light dark; } svg { max-width: 100%; "
                                        "height: auto; }</style>\n</head>\n<body>\n" +
                                        picture + "</body>\n</html>\n");
}

} // namespace tenon::driver
