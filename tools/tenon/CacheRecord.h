// What an artifact of the cache was made from and consists of: it is used as long as both are as they were.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::driver {

/// XXH3-128, 32 hexadecimal digits.
std::string hashOf(std::string_view bytes);
/// The hash of a list of texts, which keeps "ab", "c" apart from "a", "bc".
std::string hashOf(const std::vector<std::string> &texts);

/// The name of this file in the folder of an artifact.
constexpr const char *kRecordName = "record";

struct CacheRecord {
  struct File {
    std::string path; // `read`: absolute; `made`: a name in the folder
    uint64_t bytes = 0;
    std::string hash;
  };
  std::vector<File> read;          // by the compiler
  std::vector<std::string> absent; // absolute paths of files that would be read in place of these, if they existed
  std::vector<std::string> roots;  // absolute folders in which the compiler looked for std.tn and imports, in this order
  std::vector<File> made;

  /// Fields that end with a zero byte, which no path contains; the last one is the hash of the others.
  std::string print() const;
};
/// Errors: a record that is cut off or damaged.
runtime::Expected<CacheRecord> parseRecord(std::string_view text);

/// Files as they are now; reads each once.
class FilesNow {
public:
  /// Whether a compilation would read the same again.
  bool areThose(const CacheRecord &record);

private:
  bool is(const std::string &path, const CacheRecord::File &expected);
  std::map<std::string, std::string> hashes; // empty: cannot be read
};

/// The files of a folder, without the record. Errors: files that cannot be read.
runtime::Expected<std::vector<CacheRecord::File>> filesOf(const std::string &folder);
/// Whether the folder has the files that the record lists, whole.
bool isWhole(const std::string &folder, const CacheRecord &record);

} // namespace tenon::driver
