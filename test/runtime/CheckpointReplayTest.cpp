// A save's writes, syncs and renames are recorded once and replayed to every prefix, as a crash at any moment would leave them.
// What a disk has kept depends on the kind of crash: a killed process loses nothing, a power failure what was not synced, of
// contents, of names, or of both.
#include "test/runtime/CheckpointContents.h"
#include "test/runtime/SystemCalls.h"
#include <fstream>
#include <map>
#include <sstream>

namespace tenon::runtime::test {

namespace {

namespace fs = std::filesystem;
using Kind = Operation::Kind;

/// A disk in memory that knows, of each file and folder, what is written and what is synced.
class Disk {
public:
  /// The state of `folder`, all synced.
  explicit Disk(const std::string &folder) : root(folder) { read(folder, make(true)); }

  void apply(const Operation &operation) {
    const uint64_t size = operation.offset + operation.bytes.size();
    switch (operation.kind) {
    case Kind::MakeFile:
    case Kind::MakeFolder: {
      int made = make(operation.kind == Kind::MakeFolder); // a file that was there would be emptied: the same
      parent(operation.path).names[base(operation.path)] = made;
      break;
    }
    case Kind::Reserve:
    case Kind::Write: {
      std::string &bytes = node(operation.path).bytes;
      bytes.resize(std::max<size_t>(bytes.size(), size));
      bytes.replace(operation.offset, operation.bytes.size(), operation.bytes);
      break;
    }
    case Kind::Sync:
      node(operation.path).syncedBytes = node(operation.path).bytes;
      node(operation.path).syncedNames = node(operation.path).names;
      break;
    case Kind::Rename:
    case Kind::Exchange: {
      int moved = find(operation.path), other = operation.kind == Kind::Exchange ? find(operation.target) : -1;
      parent(operation.path).names.erase(base(operation.path));
      parent(operation.target).names[base(operation.target)] = moved;
      if (other >= 0)
        parent(operation.path).names[base(operation.path)] = other;
      break;
    }
    case Kind::Remove:
      parent(operation.path).names.erase(base(operation.path));
    }
  }

  /// Makes `folder` what a crash leaves.
  void writeTo(const std::string &folder, bool syncedNames, bool syncedBytes) const {
    fs::remove_all(folder);
    write(nodes[0], folder, syncedNames, syncedBytes);
  }

private:
  struct Node {
    bool folder;
    std::map<std::string, int> names, syncedNames;
    std::string bytes, syncedBytes;
  };

  int make(bool folder) {
    nodes.push_back({folder, {}, {}, {}, {}});
    return static_cast<int>(nodes.size()) - 1;
  }
  void read(const std::string &path, int into) {
    for (const auto &item : fs::directory_iterator(path)) {
      int made = make(item.is_directory());
      if (item.is_directory())
        read(item.path().string(), made);
      std::ostringstream text;
      if (item.is_regular_file())
        text << std::ifstream(item.path(), std::ios::binary).rdbuf();
      Node &node = nodes[static_cast<size_t>(made)];
      node.bytes = node.syncedBytes = text.str();
      nodes[static_cast<size_t>(into)].names[item.path().filename().string()] = made;
    }
    nodes[static_cast<size_t>(into)].syncedNames = nodes[static_cast<size_t>(into)].names;
  }
  int find(const std::string &path) const {
    int at = 0;
    for (const fs::path &part : fs::path(path).lexically_relative(root))
      if (part != ".")
        at = nodes[static_cast<size_t>(at)].names.at(part.string());
    return at;
  }
  Node &node(const std::string &path) { return nodes[static_cast<size_t>(find(path))]; }
  Node &parent(const std::string &path) { return node(fs::path(path).parent_path().string()); }
  static std::string base(const std::string &path) { return fs::path(path).filename().string(); }
  void write(const Node &node, const std::string &path, bool syncedNames, bool syncedBytes) const {
    if (!node.folder) {
      std::ofstream(path, std::ios::binary) << (syncedBytes ? node.syncedBytes : node.bytes);
      return;
    }
    fs::create_directory(path);
    for (const auto &[name, index] : syncedNames ? node.syncedNames : node.names)
      write(nodes[static_cast<size_t>(index)], path + "/" + name, syncedNames, syncedBytes);
  }

  std::string root;
  std::vector<Node> nodes; // the first is the root
};

/// One recorded save.
struct Recording {
  TemporaryFolder folder = TemporaryFolder::inMemory(), crashed = TemporaryFolder::inMemory();
  std::unique_ptr<Disk> before;
  std::vector<Operation> operations;

  void save(uint64_t first, uint64_t second, int keep) {
    ASSERT_TRUE(saveCheckpoint(folder.path, marked(first, "first"), keep).ok());
    before = std::make_unique<Disk>(folder.path);
    calls.record = &operations;
    Status status = saveCheckpoint(folder.path, marked(second, "second"), keep);
    calls.record = nullptr;
    ASSERT_TRUE(status.ok()) << status.message();
  }
  static CheckpointContents marked(uint64_t step, const char *mark) {
    CheckpointContents contents = contentsOf(step, 3000);
    contents.metadata = concat("{\"mark\": \"", std::string_view(mark), "\"}");
    return contents;
  }
  /// "first", "second", or what is wrong.
  std::string loaded(const Disk &disk, bool syncedNames, bool syncedBytes) const {
    disk.writeTo(crashed.path, syncedNames, syncedBytes);
    std::vector<std::string> skipped;
    auto newest = loadNewestCheckpoint(crashed.path, skipped);
    return newest.ok() ? newest->metadata.find("mark")->text : newest.status().message();
  }
};

struct Verdict {
  size_t states = 0, bad = 0;
  std::string worst;          // a state that gives neither the old checkpoint nor the new one
  bool secondAtTheEnd = true; // in every kind of crash after the save has returned
  bool secondAppears = false;
};

Verdict replay(const Recording &recording, const std::vector<Operation> &operations) {
  Verdict verdict;
  Disk disk = *recording.before;
  auto look = [&](const Disk &state, size_t done) {
    for (int kind = 0; kind < 4; ++kind) {
      std::string mark = recording.loaded(state, kind & 1, kind & 2);
      ++verdict.states;
      verdict.secondAppears |= mark == "second";
      if (mark != "first" && mark != "second") {
        ++verdict.bad;
        verdict.worst =
            concat("after ", done, " of ", operations.size(), " operations, kind ", static_cast<int64_t>(kind), ": ", mark);
      }
      if (done == operations.size())
        verdict.secondAtTheEnd &= mark == "second";
    }
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    look(disk, i);
    if (operations[i].kind == Kind::Write && operations[i].bytes.size() > 1) { // half of a write
      Disk torn = disk;
      Operation half = operations[i];
      half.bytes.resize(half.bytes.size() / 2);
      torn.apply(half);
      look(torn, i);
    }
    disk.apply(operations[i]);
  }
  look(disk, operations.size());
  return verdict;
}

std::vector<Operation> without(std::vector<Operation> operations, const std::function<bool(const Operation &)> &drop) {
  std::erase_if(operations, drop);
  return operations;
}

std::map<std::string, std::string> filesUnder(const std::string &folder) {
  std::map<std::string, std::string> files;
  for (const auto &item : fs::recursive_directory_iterator(folder)) {
    std::ostringstream text;
    if (item.is_regular_file())
      text << std::ifstream(item.path(), std::ios::binary).rdbuf();
    files[item.path().lexically_relative(folder).string()] = text.str();
  }
  return files;
}

} // namespace

TEST(CheckpointReplay, EveryPrefixLoadsTheOldOrTheNew) {
  const struct {
    uint64_t first, second;
    int keep;
  } cases[] = {{1, 2, 2}, {1, 2, 1}, {5, 5, 1}}; // beside the old one, in its place (pruned), under its name (exchanged)
  for (const auto &one : cases) {
    Recording recording;
    recording.save(one.first, one.second, one.keep);
    ASSERT_GE(recording.operations.size(), 40u);
    Verdict verdict = replay(recording, recording.operations);
    EXPECT_EQ(verdict.bad, 0u) << verdict.worst;
    EXPECT_TRUE(verdict.secondAtTheEnd);
    EXPECT_TRUE(verdict.secondAppears);
    EXPECT_GE(verdict.states, 4 * recording.operations.size());
    // The replay of the whole record is what the save has made: nothing is missing in the record.
    Disk disk = *recording.before;
    for (const Operation &operation : recording.operations)
      disk.apply(operation);
    disk.writeTo(recording.crashed.path, false, false);
    EXPECT_TRUE(filesUnder(recording.crashed.path) == filesUnder(recording.folder.path)) << "something is missing in the record";
  }
}

// Negative controls: a save that leaves out one kind of sync is found out.
TEST(CheckpointReplay, LeftOutSyncsAreSeen) {
  Recording recording;
  recording.save(1, 2, 1);
  auto isFile = [](const Operation &operation) {
    return operation.kind == Kind::Sync && (operation.path.ends_with(".safetensors") || operation.path.ends_with(".json"));
  };
  EXPECT_GT(replay(recording, without(recording.operations, isFile)).bad, 0u);
  auto isInner = [](const Operation &operation) { return operation.kind == Kind::Sync && operation.path.ends_with(".tmp"); };
  Verdict inner = replay(recording, without(recording.operations, isInner));
  EXPECT_TRUE(inner.bad > 0 || !inner.secondAtTheEnd);
  auto isParent = [&](const Operation &operation) {
    return operation.kind == Kind::Sync && operation.path == recording.folder.path;
  };
  EXPECT_FALSE(replay(recording, without(recording.operations, isParent)).secondAtTheEnd);
}

} // namespace tenon::runtime::test
