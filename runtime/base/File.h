// Files by descriptor: whole reads and writes, EINTR and short counts handled, errors with the path in them.
#pragma once
#include "runtime/base/Status.h"
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Takes bytes one after the other. Users: a file, a hashing file of a checkpoint.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual Status write(const void *data, size_t bytes) = 0;
};

/// Owns a descriptor. Movable; closed by the destructor.
class File {
public:
  File() = default;
  File(File &&other) noexcept : descriptor(other.descriptor), path(std::move(other.path)) { other.forget(); }
  File &operator=(File &&other) noexcept;
  ~File() { close(); }

  static Expected<File> openForReading(const std::string &path);
  /// Also gives its size in bytes; an error if it is not a regular file.
  static Expected<File> openForReading(const std::string &path, uint64_t &bytes);
  /// Creates or truncates. Messages about a failure name `shown`, where that is another file.
  static Expected<File> create(const std::string &path, const std::string &shown = "");
  /// For reading and writing; created where there is none, and kept as it is where there is one.
  static Expected<File> openForUpdate(const std::string &path);
  static Expected<File> openDirectory(const std::string &path);

  /// Size in bytes; an error if it is not a regular file.
  Expected<uint64_t> size() const;
  /// Reads exactly `bytes` at `offset`; a shorter file is an error.
  Status readAt(uint64_t offset, void *data, size_t bytes) const;
  Status write(const void *data, size_t bytes);
  /// Reserves space so that a full disk is found before writing. Filesystems without support count as success.
  Status reserve(uint64_t bytes);
  Status sync();
  /// Reports delayed write errors (NFS, quota) that a destructor could not.
  Status closeChecked();
  void close();
  int handle() const { return descriptor; }
  const std::string &name() const { return path; }

private:
  File(int descriptor, std::string path) : descriptor(descriptor), path(std::move(path)) {}
  void forget() {
    descriptor = -1;
    path.clear();
  }
  int descriptor = -1;
  std::string path;
};

/// A file as a sink.
class FileSink : public ByteSink {
public:
  explicit FileSink(File &file) : file(file) {}
  Status write(const void *data, size_t bytes) override { return file.write(data, bytes); }

private:
  File &file;
};

/// Files that are replaced together. Each is written beside its target; they take their names in `commit`, when all are on the
/// disk. Without it the old files are as they were.
class FileBatch {
public:
  FileBatch() = default;
  FileBatch(const FileBatch &) = delete;
  FileBatch &operator=(const FileBatch &) = delete;
  /// Removes what has not been committed.
  ~FileBatch();
  /// `write` fills a file that will replace `path`. A symbolic link stays one, even if what it names does not exist yet; and what
  /// is no regular file (a pipe, /dev/null) is written to where it is. The permissions of what is replaced stay. Usage error: a
  /// second file for the same target.
  Status write(const std::string &path, const std::function<Status(ByteSink &)> &write);
  Status commit();

private:
  struct Waiting {
    std::string temporary, target;
  };
  std::vector<Waiting> waiting;
};

/// Replaces one file as a whole: as a batch of its own, or as a part of `batch`, which the caller commits.
Status replaceFile(const std::string &path, const std::function<Status(ByteSink &)> &write, FileBatch *batch = nullptr);
Status replaceFile(const std::string &path, std::string_view text);
/// The whole file as text; refuses more than `limit` bytes.
Expected<std::string> readWholeFile(const std::string &path, uint64_t limit);
/// Error of a failed system call on `path`; ENOSPC, EDQUOT, EFBIG and ENOMEM are resource errors, others input errors.
Status fileError(const std::string &action, const std::string &path, int error);

} // namespace tenon::runtime
