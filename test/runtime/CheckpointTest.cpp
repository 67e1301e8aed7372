// Crash safety: the n-th system call fails for every n, the process is killed at random points inside a save, files are damaged.
#include "test/runtime/CheckpointContents.h"
#include "test/runtime/SystemCalls.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::runtime::test {

namespace {

std::vector<std::string> listing(const std::string &path) {
  std::vector<std::string> names;
  for (const auto &item : std::filesystem::directory_iterator(path))
    names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t newestStep(const std::string &directory) {
  std::vector<std::string> skipped;
  auto loaded = loadNewestCheckpoint(directory, skipped);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? loaded->step : 0;
}

void flipByte(const std::string &path, uint64_t at) {
  int file = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  char byte = 0;
  ASSERT_EQ(pread(file, &byte, 1, static_cast<off_t>(at)), 1);
  byte ^= 4;
  ASSERT_EQ(pwrite(file, &byte, 1, static_cast<off_t>(at)), 1);
  ::close(file);
}

} // namespace

TEST(Checkpoint, SavesLoadsAndKeepsSome) {
  TemporaryFolder folder;
  std::string directory = folder / "run/checkpoints";
  for (uint64_t step : {9, 10, 11, 100}) {
    Status saved = saveCheckpoint(directory, contentsOf(step), 3);
    ASSERT_TRUE(saved.ok()) << saved.message();
  }
  EXPECT_EQ(listing(directory), (std::vector<std::string>{"step-10", "step-100", "step-11"}));
  std::vector<std::string> skipped;
  auto loaded = loadNewestCheckpoint(directory, skipped);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_TRUE(skipped.empty());
  EXPECT_EQ(loaded->step, 100u);
  EXPECT_EQ(loaded->metadata.find("position")->integer, 1000);
  EXPECT_EQ(loaded->files, (std::vector<std::string>{"params.safetensors", "states.safetensors"}));
  EXPECT_EQ(std::filesystem::file_size(loaded->filePath("params.safetensors")), 9'000'000u);
  EXPECT_TRUE(loadCheckpoint(directory + "/step-11/").ok());
  // Saving the same step again replaces it.
  CheckpointContents again = contentsOf(100);
  again.metadata = "{\"position\": 7}";
  ASSERT_TRUE(saveCheckpoint(directory, again, 3).ok());
  EXPECT_EQ(loadNewestCheckpoint(directory, skipped)->metadata.find("position")->integer, 7);
  EXPECT_EQ(listing(directory), (std::vector<std::string>{"step-10", "step-100", "step-11"}));
}

TEST(Checkpoint, SkipsDamagedOnesAndSaysSo) {
  TemporaryFolder folder;
  std::vector<std::string> skipped;
  expectError(loadNewestCheckpoint(folder / "none", skipped).status(), ErrorKind::Input, "cannot list");
  expectError(loadNewestCheckpoint(folder.path, skipped).status(), ErrorKind::Input, "no valid checkpoint");
  for (uint64_t step = 1; step <= 6; ++step)
    ASSERT_TRUE(saveCheckpoint(folder.path, contentsOf(step), 10).ok());
  flipByte(folder / "step-6/params.safetensors", 8'999'999); // in the last, short chunk
  ASSERT_EQ(truncate((folder / "step-5/states.safetensors").c_str(), 999), 0);
  flipByte(folder / "step-4/manifest.json", 120);
  std::filesystem::remove(folder / "step-3/manifest.json");
  std::filesystem::rename(folder / "step-1", folder / "step-7");
  auto loaded = loadNewestCheckpoint(folder.path, skipped);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->step, 2u);
  ASSERT_EQ(skipped.size(), 5u);
  const char *expected[] = {"holds step 1: the directory was renamed", "damaged between bytes 8388608 and 9000000",
                            "has 999 bytes, expected 1000", "manifest.json' is damaged", "cannot open"};
  for (int i = 0; i < 5; ++i)
    EXPECT_NE(skipped[i].find(expected[i]), std::string::npos) << skipped[i];
  // Pruning counts valid ones only: with keep = 1 the damaged newer ones do not push out what was just written.
  ASSERT_TRUE(saveCheckpoint(folder.path, contentsOf(3), 1).ok());
  skipped.clear();
  EXPECT_EQ(loadNewestCheckpoint(folder.path, skipped)->step, 3u);
}

TEST(Checkpoint, RefusesWhatTheWriterDidWrong) {
  TemporaryFolder folder;
  CheckpointContents contents = contentsOf(1);
  contents.files[1].bytes = 999;
  expectError(saveCheckpoint(folder.path, contents, 1), ErrorKind::Bug, "got 1000 bytes, 999 were announced");
  contents = contentsOf(1);
  contents.metadata = "[]";
  expectError(saveCheckpoint(folder.path, contents, 1), ErrorKind::Bug, "must be a JSON object");
  contents = contentsOf(1);
  contents.files[0].name = "../x";
  expectError(saveCheckpoint(folder.path, contents, 1), ErrorKind::Bug, "cannot be a file");
  EXPECT_TRUE(listing(folder.path).empty());
  writeFile(folder / "file", "x");
  expectError(saveCheckpoint(folder / "file", contentsOf(1), 1), ErrorKind::Input, "create directory");
}

// n = 0, 1, 2, ... until a save gets through: each failure is an error value and leaves the older checkpoint.
TEST(Checkpoint, FailsCleanlyAtEveryCall) {
  for (int error : {EIO, ENOSPC}) {
    TemporaryFolder folder = TemporaryFolder::inMemory();
    ASSERT_TRUE(saveCheckpoint(folder.path, contentsOf(1, 100'000), 2).ok());
    calls.failure = error;
    long n = 0, failures = 0, afterPublish = 0;
    for (;; ++n) {
      ASSERT_LT(n, 1000);
      calls.countdown = n;
      Status status = saveCheckpoint(folder.path, contentsOf(2, 100'000), 2);
      bool struck = calls.countdown.exchange(-1) < 0;
      if (!struck) {
        EXPECT_TRUE(status.ok()) << status.message();
        break;
      }
      if (status.failed()) {
        ++failures;
        if (error == ENOSPC) {
          EXPECT_EQ(static_cast<int>(status.kind()), static_cast<int>(ErrorKind::Resource)) << status.message();
        }
      }
      uint64_t step = newestStep(folder.path);
      ASSERT_TRUE(step == 1 || step == 2);
      afterPublish += step == 2;
      if (step == 1) {
        EXPECT_EQ(listing(folder.path), (std::vector<std::string>{"step-1"})); // nothing is left behind
      }
      std::filesystem::remove_all(folder / "step-2");
    }
    EXPECT_GE(failures, error == EIO ? 20 : 8); // a short write is no failure
    EXPECT_GE(n, 20);
    EXPECT_GE(afterPublish, 1);
    EXPECT_EQ(newestStep(folder.path), 2u);
  }
}

/// Saves steps from `first` on until it is killed.
[[noreturn]] static void saveForEver(const std::string &directory, uint64_t first) {
  for (uint64_t step = first;; ++step)
    if (saveCheckpoint(directory, contentsOf(step, 500'000), 2).failed())
      _exit(3);
}

TEST(Checkpoint, SurvivesKillBetweenAnyTwoCalls) {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  ASSERT_TRUE(saveCheckpoint(folder.path, contentsOf(1, 500'000), 2).ok());
  uint64_t last = 1;
  for (long n = 0; n < 60; ++n) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      calls.killing = true;
      calls.countdown = n;
      saveForEver(folder.path, last + 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::vector<std::string> skipped;
    auto loaded = loadNewestCheckpoint(folder.path, skipped);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_TRUE(skipped.empty()) << skipped[0]; // half-written ones never have the name of a checkpoint
    ASSERT_GE(loaded->step, last);
    last = loaded->step;
  }
  EXPECT_GT(last, 1u);
}

TEST(Checkpoint, SurvivesKillAtRandomTimes) {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  ASSERT_TRUE(saveCheckpoint(folder.path, contentsOf(1, 500'000), 2).ok());
  uint64_t last = 1;
  unsigned random = 12345;
  for (int i = 0; i < 12; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      saveForEver(folder.path, last + 1);
    random = random * 1103515245 + 12345;
    usleep(2000 + random / 65536 % 60000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    uint64_t step = newestStep(folder.path);
    ASSERT_GE(step, last);
    last = step;
  }
}

} // namespace tenon::runtime::test
