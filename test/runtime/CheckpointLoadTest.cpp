// A checkpoint of a run is read as a whole or not at all: a file of it that its manifest vouches for and that does not fit leaves
// everything as it was.
#include "runtime/train/RunState.h"
#include "test/runtime/Support.h"
#include <cstring>

namespace tenon::runtime::test {

namespace {

std::string bytesOf(const std::string &path) {
  auto text = readWholeFile(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : std::string();
}

/// A model with an optimizer that has two moments, and a context with a state of its own.
class CheckpointLoad : public testing::Test {
protected:
  void SetUp() override {
    auto artifact = Artifact::open(fakeLibrary("fake-adam"));
    ASSERT_TRUE(artifact.ok()) << artifact.status().message();
    parameters = Parameters::create(*artifact).take();
    ASSERT_TRUE(parameters->ensureTraining().ok());
    const int64_t rows = 3;
    auto made = Context::create(parameters, "infer", std::span<const int64_t>(&rows, 1), makePool(1));
    ASSERT_TRUE(made.ok()) << made.status().message();
    context = made.take();
    fill(1);
    state.step = 7;
    ASSERT_TRUE(train::saveRun(folder / "run", state, *context, 1).ok());
  }

  static constexpr ParameterArena kArenas[] = {ParameterArena::Values, ParameterArena::Moment1, ParameterArena::Moment2};

  /// Other numbers everywhere for another `number`.
  void fill(float number) {
    const std::vector<float> values(60, number);
    for (const std::string &name : parameters->names())
      for (ParameterArena arena : kArenas)
        ASSERT_TRUE(
            parameters->set(name, values.data(), static_cast<uint64_t>(parameters->find(name)->info->elements) * 4, arena).ok());
    for (auto &[key, own] : parameters->modelStates())
      ASSERT_TRUE(own.memory.view().write(values.data()).ok());
    for (size_t i = 0; i < context->states().size(); ++i)
      ASSERT_TRUE(context->state(static_cast<int>(i)).write(values.data()).ok());
  }

  std::string everything() const {
    std::string all;
    for (ParameterArena arena : kArenas)
      all.append(parameters->arena(arena).hostView(), parameters->manifest().parameterBytes);
    for (const auto &[key, own] : parameters->modelStates())
      all.append(own.memory.view().hostView(), own.memory.size());
    for (size_t i = 0; i < context->states().size(); ++i)
      if (!context->entry().states[i].ofModel) // of those the context has copies, made when it runs
        all.append(context->state(static_cast<int>(i)).hostView(), context->states()[i].bytes);
    return all;
  }

  /// The checkpoint again, with a manifest that fits, where `change` has changed one file; it leaves the file out by returning
  /// false.
  std::string changed(const std::string &name, const std::function<bool(std::string &)> &change) {
    auto loaded = loadCheckpoint(folder / "run/step-7");
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    CheckpointContents contents;
    contents.step = 7;
    contents.metadata = loaded->metadata.print();
    for (const std::string &file : loaded->files) {
      std::string bytes = bytesOf(loaded->filePath(file));
      if (file != name || change(bytes))
        contents.files.push_back(
            {file, bytes.size(), [bytes](ByteSink &sink) { return sink.write(bytes.data(), bytes.size()); }});
    }
    const std::string result = folder / ("changed-" + std::to_string(++made));
    EXPECT_TRUE(saveCheckpoint(result, contents, 1).ok());
    return result;
  }

  Status load(const std::string &directory) {
    std::vector<std::string> notes;
    bool found = false;
    return train::loadRun(directory, "", state, *context, found, notes);
  }

  void expectRefused(const std::string &directory, const std::string &text) {
    fill(2);
    const std::string before = everything();
    expectError(load(directory), ErrorKind::Input, text);
    EXPECT_TRUE(everything() == before) << "what was refused has changed something: " << text;
    EXPECT_EQ(state.step, 7u);
  }

  TemporaryFolder folder;
  std::shared_ptr<Parameters> parameters;
  std::unique_ptr<Context> context;
  train::RunState state;
  int made = 0;
};

const char *const kFiles[] = {"parameters.safetensors", "moment1.safetensors", "moment2.safetensors", "states.safetensors"};

bool replaceFirst(std::string &bytes, const std::string &from, const std::string &to) {
  const size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos)
    bytes.replace(at, from.size(), to);
  return true;
}

} // namespace

TEST_F(CheckpointLoad, ComesBackWhole) {
  const std::string saved = everything();
  const std::string copy = changed("", [](std::string &) { return true; });
  fill(2);
  EXPECT_TRUE(load(copy).ok());
  EXPECT_TRUE(everything() == saved);
}

TEST_F(CheckpointLoad, OtherSizesChangeNothing) {
  for (const char *file : {kFiles[0], kFiles[1], kFiles[2]})
    expectRefused(changed(file, [](std::string &bytes) { return replaceFirst(bytes, "[20,3]", "[3,20]"); }),
                  "blocks.0.weight has type");
  expectRefused(changed(kFiles[0], [](std::string &bytes) { return replaceFirst(bytes, "norm.1.mean", "norm.2.mean"); }),
                "state 'norm.1.mean' is missing");
  expectRefused(changed(kFiles[3], [](std::string &bytes) { return replaceFirst(bytes, "\"count\"", "\"other\""); }),
                "lacks the state count");
}

TEST_F(CheckpointLoad, TruncatedFilesChangeNothing) {
  for (const char *file : kFiles)
    expectRefused(changed(file, [](std::string &bytes) { return bytes.resize(bytes.size() - 4), true; }), file);
  for (const char *file : kFiles) // a header of 2^63 bytes
    expectRefused(changed(file, [](std::string &bytes) { return bytes[7] = '\x7f', true; }), "its header would have");
}

TEST_F(CheckpointLoad, FilesThatTheManifestDoesNotListAreNotRead) {
  for (const char *file : kFiles) {
    const std::string directory = changed(file, [](std::string &) { return false; });
    writeFile(directory + "/step-7/" + file, bytesOf(folder / (std::string("run/step-7/") + file)));
    expectRefused(directory, std::string("its manifest lists no ") + file);
  }
}

} // namespace tenon::runtime::test
