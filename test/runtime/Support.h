// What the runtime's unit tests share.
#pragma once
#include "runtime/base/File.h"
#include "runtime/context/Context.h"
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tenon::runtime::test {

/// A fresh folder that goes away with the object.
class TemporaryFolder {
public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  /// In memory where the system has such a place: for tests that sync hundreds of times and do not ask what survives a power
  /// loss.
  static TemporaryFolder inMemory() {
    return TemporaryFolder(access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm")
                                                         : std::filesystem::temp_directory_path());
  }
  explicit TemporaryFolder(const std::filesystem::path &parent) {
    std::string pattern = (parent / "tenon-XXXXXX").string();
    if (char *made = mkdtemp(pattern.data()))
      path = made;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

inline void writeFile(const std::string &path, std::string_view bytes) {
  auto file = File::create(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE(file->write(bytes.data(), bytes.size()).ok());
}

/// The library built from fake_artifact.c; the build passes the folder.
inline std::string fakeLibrary(const std::string &name = "fake") {
  return std::string(TENON_TEST_LIBRARIES) + "/lib" + name + ".so";
}

inline std::shared_ptr<Parameters> fakeParameters(const std::string &library = "fake") {
  auto artifact = Artifact::open(fakeLibrary(library));
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  auto parameters = Parameters::create(*artifact);
  EXPECT_TRUE(parameters.ok()) << parameters.status().message();
  return parameters.take();
}

inline std::shared_ptr<ThreadPool> makePool(int threads) {
  auto pool = ThreadPool::create(threads);
  EXPECT_TRUE(pool.ok()) << pool.status().message();
  return pool.take();
}

/// Fails unless the status has this kind and the text in its message.
inline void expectError(const Status &status, ErrorKind kind, const std::string &text) {
  EXPECT_EQ(static_cast<int>(status.kind()), static_cast<int>(kind)) << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos)
      << "message: " << status.message() << "\nexpected to contain: " << text;
}

} // namespace tenon::runtime::test
