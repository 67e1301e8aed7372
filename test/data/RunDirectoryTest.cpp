// The files of a run: metrics after crashes, full disks and damage, settings that come back exactly, fingerprints of data, the
// lock.
#include "runtime/train/RunDirectory.h"
#include "runtime/data/Text.h"
#include "runtime/train/Metrics.h"
#include "runtime/train/RunLock.h"
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon::train;
using tenon::data::changedFiles;
using tenon::data::FileFingerprint;
namespace fs = std::filesystem;

namespace {

std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A fresh folder that goes away with the test.
class RunFiles : public testing::Test {
protected:
  RunFiles() {
    std::string pattern = testing::TempDir() + "tenon-run-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~RunFiles() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  void write(const std::string &name, const std::string &text) const { std::ofstream(folder + "/" + name) << text; }
  std::string folder;
};

std::string stepLine(uint64_t step) { return "{\"step\": " + std::to_string(step) + ", \"loss\": 1}\n"; }

MetricsLine lineOf(uint64_t step) {
  MetricsLine line;
  line.add("step", step);
  line.add("loss", 1.0);
  return line;
}

} // namespace

TEST_F(RunFiles, LinesOfLostWorkAreDropped) {
  const std::string path = folder + "/metrics.jsonl";
  write("metrics.jsonl",
        "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": null}\n{\"step\": 3, \"loss\": 1}\n{\"step\": 4, \"lo");
  std::vector<std::string> notes;
  {
    MetricsFile file;
    ASSERT_TRUE(file.open(path, 2, notes).ok());
    MetricsLine line;
    line.add("step", uint64_t{3});
    line.add("loss", 0.5);
    line.add("bad", std::nan(""));
    line.addText("note", "a\"b");
    ASSERT_TRUE(file.write(line).ok());
  }
  const std::string before = contents(path);
  EXPECT_EQ(before, "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": null}\n"
                    "{\"step\": 3, \"loss\": 0.5, \"bad\": null, \"note\": \"a\\\"b\"}\n");
  MetricsFile whole;
  ASSERT_TRUE(whole.open(path, 9, notes).ok());
  EXPECT_EQ(contents(path), before);
  EXPECT_TRUE(notes.empty()) << notes[0];
  MetricsFile missing;
  EXPECT_NE(missing.open(folder + "/none/metrics.jsonl", 0, notes).message().find("none/metrics.jsonl"), std::string::npos);
}

TEST_F(RunFiles, OneDamagedLineCostsOneLine) {
  const std::string path = folder + "/metrics.jsonl";
  std::string text, expected;
  for (uint64_t step = 1; step <= 40; ++step) {
    text += step == 7 ? "{\"step\": 7, \"lo" : stepLine(step); // line 7 has lost its end, and with it its border to line 8
    text += step == 20 ? "no line\n" : "";
    expected += step == 7 || step == 8 || step > 30 ? "" : stepLine(step);
  }
  write("metrics.jsonl", text);
  std::vector<std::string> notes;
  MetricsFile file;
  ASSERT_TRUE(file.open(path, 30, notes).ok());
  EXPECT_EQ(contents(path), expected);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("2 damaged lines are left out, the first is line 7"), std::string::npos) << notes[0];
  EXPECT_EQ(contents(path + ".1"), text) << notes[1];
}

TEST_F(RunFiles, AWholeLastLineWithoutItsEndStays) {
  const std::string path = folder + "/metrics.jsonl";
  write("metrics.jsonl", stepLine(1) + "{\"step\": 2, \"loss\": 1}");
  std::vector<std::string> notes;
  MetricsFile file;
  ASSERT_TRUE(file.open(path, 5, notes).ok());
  ASSERT_TRUE(file.write(lineOf(3)).ok());
  EXPECT_EQ(contents(path), stepLine(1) + stepLine(2) + stepLine(3));
  EXPECT_TRUE(notes.empty());
}

// A limit of the file's size stands for the disk: the kernel writes what fits.
TEST_F(RunFiles, AFullDiskLeavesNoHalfLine) {
  const std::string path = folder + "/metrics.jsonl";
  std::vector<std::string> notes;
  MetricsFile file;
  ASSERT_TRUE(file.open(path, 0, notes).ok());
  ASSERT_TRUE(file.write(lineOf(1)).ok());
  struct rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = stepLine(1).size() + 9;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  tenon::runtime::Status full = file.write(lineOf(2)), still = file.write(lineOf(3));
  const std::string during = contents(path);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(static_cast<int>(full.kind()), static_cast<int>(tenon::runtime::ErrorKind::Resource)) << full.message();
  EXPECT_TRUE(still.failed());
  EXPECT_EQ(during, stepLine(1));
  ASSERT_TRUE(file.write(lineOf(4)).ok());
  EXPECT_EQ(contents(path), stepLine(1) + stepLine(4));
}

TEST_F(RunFiles, SettingsComeBackExactly) {
  RunSettings settings;
  settings.data.text = "/data/caf\xe9/na\xc3\xafve \"x\".txt"; // not UTF-8
  settings.data.validText = "/data/\xc3\xa9.txt";
  settings.data.heldOut = 0.012345678901234567;
  settings.data.validEvery = 70;
  settings.data.unit = "characters";
  settings.seed = ~uint64_t{0};
  settings.bind = {{"B", 8}, {"T", 512}};
  settings.files = {{"/data/caf\xe9/a", 5, std::string(32, 'a')}, {"/b", uint64_t{1} << 60, std::string(32, '0')}};
  RunDirectory run{folder};
  ASSERT_TRUE(writeRunSettings(run, settings).ok());
  auto read = readRunSettings(run);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->data.text, settings.data.text);
  EXPECT_EQ(read->data.validText, settings.data.validText);
  EXPECT_EQ(*read->data.heldOut, *settings.data.heldOut);
  EXPECT_EQ(read->data.validEvery, settings.data.validEvery);
  EXPECT_EQ(read->data.unit, settings.data.unit);
  EXPECT_EQ(read->seed, settings.seed);
  EXPECT_EQ(read->bind, settings.bind);
  EXPECT_EQ(read->files, settings.files);
}

TEST_F(RunFiles, DamagedSettingsAreNamed) {
  const std::pair<const char *, const char *> cases[] = {
      {R"({"format": 1, "held_out": "0.1"})", "\"held_out\" must be a number from 0 to below 1"},
      {R"({"format": 1, "held_out": 1.5})", "\"held_out\" must be"},
      {R"({"format": 1, "text": 3})", "\"text\" must be a path"},
      {R"({"format": 1, "text": {"hex": "6"}})", "\"text\" must be a path"},
      {R"({"format": 1, "text": {"hex": "00"}})", "\"text\" must be a path"},
      {R"({"format": 1, "unit": "words"})", "\"unit\" must be bytes or characters"},
      {R"({"format": 1, "seed": "7x"})", "\"seed\" must be"},
      {R"({"format": 1, "bind": {"B": 0}})", "\"bind\" must give \"B\" a size"},
      {R"({"format": 1, "files": [{"path": "a"}]})", "\"files\" needs"},
      {R"({"format": 2})", "not of format 1"},
      {"{\"format\": 1, \"text\": \"\xff\"}", "not valid JSON"}};
  RunDirectory run{folder};
  for (const auto &[text, message] : cases) {
    write("run.json", text);
    tenon::runtime::Status status = readRunSettings(run).status();
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("without it these must be given again"), std::string::npos);
  }
}

TEST_F(RunFiles, FingerprintsOfPictures) {
  std::filesystem::create_directories(folder + "/pictures/a");
  write("pictures/a/1.pgm", "P5 1 1 255\n1");
  write("pictures/a/2.pgm", "P5 1 1 255\n2");
  write("pictures/a/3.JPG", "JPEG"); // not even opened as a picture
  write("pictures/a/4.png", "PNG");
  auto printed = [&] {
    std::vector<FileFingerprint> prints;
    EXPECT_TRUE(tenon::data::fingerprintFiles({folder + "/pictures"}, prints).ok());
    return prints;
  };
  const std::vector<FileFingerprint> before = printed();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].bytes, 31u);
  write("pictures/a/other", "no picture");
  EXPECT_EQ(changedFiles(before, printed()), "");
  write("pictures/a/2.pgm", "P5 1 1 255\n3");
  EXPECT_EQ(changedFiles(before, printed()), folder + "/pictures has other pictures");
  write("pictures/a/2.pgm", "P5 1 1 255\n2");
  EXPECT_EQ(changedFiles(before, printed()), "");
  for (const auto &[name, bytes] : {std::pair{"3.JPG", "JPEG"}, {"4.png", "PNG"}}) {
    write(std::string("pictures/a/") + name, "other");
    EXPECT_EQ(changedFiles(before, printed()), folder + "/pictures has other pictures") << name;
    write(std::string("pictures/a/") + name, bytes);
    EXPECT_EQ(changedFiles(before, printed()), "");
  }
  std::filesystem::rename(folder + "/pictures/a", folder + "/pictures/b");
  EXPECT_EQ(changedFiles(before, printed()), folder + "/pictures has other pictures");
}

TEST_F(RunFiles, FingerprintsTellWhatChanged) {
  write("a", std::string(5'000'000, 'a') + "1");
  write("b", "bb");
  std::vector<FileFingerprint> before, now;
  ASSERT_TRUE(tenon::data::fingerprintFiles({folder + "/a", folder + "/./b", folder + "/b", "/dev/null"}, before).ok());
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before[0].bytes, 5'000'001u);
  EXPECT_EQ(before[1].path, folder + "/b");
  EXPECT_EQ(changedFiles(before, before), "");
  EXPECT_EQ(changedFiles({}, before), "");
  write("a", std::string(5'000'000, 'a') + "2");
  write("b", "bbb");
  write("c", "");
  ASSERT_TRUE(tenon::data::fingerprintFiles({folder + "/a", folder + "/b", folder + "/c"}, now).ok());
  EXPECT_EQ(changedFiles(before, now),
            folder + "/a has other bytes; " + folder + "/b has 3 bytes, before 2; " + folder + "/c is new");
  EXPECT_EQ(changedFiles(now, {before[0]}), folder + "/a has other bytes; " + folder + "/b is gone; " + folder + "/c is gone");
  EXPECT_EQ(changedFiles({before[0]}, {before[1]}), "");
}

TEST_F(RunFiles, OneTrainingAtATime) {
  std::string note;
  {
    auto first = RunLock::take(folder, note);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_TRUE(note.empty()) << note;
    tenon::runtime::Status second = RunLock::take(folder, note).status();
    ASSERT_TRUE(second.failed());
    EXPECT_NE(second.message().find("is in training by process " + std::to_string(getpid()) + " on host "), std::string::npos)
        << second.message();
    EXPECT_NE(second.message().find(" UTC; wait for it"), std::string::npos) << second.message();
    write("lock", "process 1\x1b[2J\n"); // whatever stands there, a terminal stays what it is
    EXPECT_NE(RunLock::take(folder, note).status().message().find("by another process;"), std::string::npos);
  }
  EXPECT_TRUE(RunLock::take(folder, note).ok());
}

TEST_F(RunFiles, TheLockDiesWithItsProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  std::string note;
  if (child == 0) {
    auto lock = RunLock::take(folder, note);
    (void)!::write(ready[1], lock.ok() ? "1" : "0", 1);
    for (;;)
      pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, '1');
  EXPECT_NE(RunLock::take(folder, note).status().message().find("process " + std::to_string(child)), std::string::npos);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunLock::take(folder, note).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunFiles, WhatExistsUnderItsVeryNameIsNoPattern) {
  fs::create_directories(folder + "/br1");
  fs::create_directories(folder + "/br[1]");
  write("br1/t.txt", "other");
  write("br1/only.txt", "other");
  write("br[1]/t.txt", "own");
  write("br[1]/u?.txt", "a name");
  write("br[1]/u1.txt", "matches the name");
  auto found = [&](const std::string &pattern) {
    std::vector<std::string> paths;
    return tenon::data::listFiles(folder + pattern, paths).ok() ? paths : std::vector<std::string>{"none"};
  };
  EXPECT_EQ(found("/br[1]/t.txt"), std::vector{folder + "/br[1]/t.txt"});
  EXPECT_EQ(found("/br[1]/[t].txt"), std::vector{folder + "/br[1]/t.txt"});
  EXPECT_EQ(found("/br[1]/u?.txt"), std::vector{folder + "/br[1]/u?.txt"});
  EXPECT_EQ(found("/br[1]/only.txt"), std::vector<std::string>{"none"});
  EXPECT_EQ(found("/b[r]1/on*.txt"), std::vector{folder + "/br1/only.txt"}); // a folder that is a pattern
}

TEST_F(RunFiles, ATextHasNoByteOrderMarkUnlessItsSymbolsAreBytes) {
  write("marked.txt", "\xEF\xBB\xBF"
                      "a\n");
  write("more.txt", "\xEF\xBB\xBF"
                    "b\n");
  using tenon::data::Unit;
  std::string text;
  for (Unit unit : {Unit::Characters, Unit::Words, Unit::BytePairs}) {
    ASSERT_TRUE(tenon::data::readTexts({folder + "/m*.txt"}, unit, text).ok());
    EXPECT_EQ(text, "a\nb\n");
  }
  ASSERT_TRUE(tenon::data::readTexts({folder + "/marked.txt"}, Unit::Bytes, text).ok());
  EXPECT_EQ(text, "\xEF\xBB\xBF"
                  "a\n");
}
