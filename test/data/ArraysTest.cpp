// arrays(..) and jsonl(..): which rows a batch has, what stands in its tensors, and what is refused.
#include "Batch.h"
#include "frontend/recipes/RecipeSchema.h"
#include "runtime/data/Inputs.h"
#include "runtime/files/Npy.h"
#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <unistd.h>

using namespace tenon::data;
using namespace tenon::data::test;
using tenon::runtime::writeNpy;

namespace {

std::string pathOf(const std::string &name) { return testing::TempDir() + "tenon-arrays-" + name; }

template <typename T>
std::string save(const std::string &name, DataType type, std::vector<int64_t> shape, const std::vector<T> &values) {
  EXPECT_TRUE(writeNpy(pathOf(name), type, shape, values.data()).ok());
  return pathOf(name);
}
/// 0, 1, 2, ... as 64-bit numbers.
std::string saveCount(const std::string &name, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return save(name, DataType::I64, {count}, values);
}

TaskSettings arrays(std::vector<SourceSetting> sources, double heldOut = 0, uint64_t seed = 7) {
  TaskSettings settings;
  settings.name = "arrays";
  settings.sources = std::move(sources);
  settings.heldOut = heldOut;
  settings.seed = seed;
  return settings;
}
std::unique_ptr<DataTask> open(const TaskSettings &settings, Part part = Part::Training) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, part, nullptr, task);
  EXPECT_TRUE(status.ok()) << status.message();
  return task;
}
std::string mistakeOf(const TaskSettings &settings, Batch batch) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, Part::Training, nullptr, task);
  return status.ok() ? task->bind(batch.tensors).message() : status.message();
}

std::vector<int32_t> rowsOf(const TaskSettings &settings, Part part, uint64_t first, uint64_t batches) {
  auto task = open(settings, part);
  Batch batch = Batch().add("n", DataType::I32, {4}, 1000);
  EXPECT_TRUE(task->bind(batch.tensors).ok());
  std::vector<int32_t> rows;
  for (uint64_t i = first; i < first + batches; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b)
      rows.push_back(batch.integer("n", b));
  }
  return rows;
}

} // namespace

TEST(Arrays, EachEpochHasEachRowOnceInAnOrderOfItsOwn) {
  TaskSettings settings = arrays({{"n", saveCount("each.npy", 102)}});
  ASSERT_EQ(open(settings)->gives(), std::vector<std::string>{"n"});
  std::vector<int32_t> first = rowsOf(settings, Part::Training, 0, 25), second = rowsOf(settings, Part::Training, 25, 25);
  EXPECT_EQ(std::set<int32_t>(first.begin(), first.end()).size(), 100u); // two rows are no batch
  EXPECT_EQ(std::set<int32_t>(second.begin(), second.end()).size(), 100u);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(rowsOf(settings, Part::Training, 31, 2),
            std::vector<int32_t>(second.begin() + 24, second.begin() + 32)); // position is all there is
  settings.seed = 8;
  EXPECT_NE(rowsOf(settings, Part::Training, 0, 25), first);
}

TEST(Arrays, HeldOutRowsAreTheSameForEverySeedAndNeverTrained) {
  TaskSettings settings = arrays({{"n", saveCount("held.npy", 103)}}, 0.1);
  auto task = open(settings, Part::HeldOut);
  Batch batch = Batch().add("n", DataType::I32, {4}, 1000);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_EQ(task->evaluationBatches(), 3u); // 4 + 4 + 2 rows
  EXPECT_EQ(task->validRows(2), 2);
  EXPECT_EQ(task->extent().all, 10);
  std::set<int32_t> held;
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
    for (int64_t b = 0; b < task->validRows(i); ++b)
      held.insert(batch.integer("n", b));
  }
  EXPECT_EQ(batch.integer("n", 3), batch.integer("n", 1)); // padding is the last row again
  Batch small = Batch().add("n", DataType::I32, {2}, 1000);
  ASSERT_TRUE(task->fillEvaluation(2, small.tensors).ok());
  EXPECT_EQ(small.integer("n", 1), batch.integer("n", 1));
  EXPECT_EQ(held.size(), 10u);
  EXPECT_GT(*held.rbegin() - *held.begin(), 20); // a choice, not the end of the file
  for (uint64_t seed : {7u, 99u}) {
    settings.seed = seed;
    for (int32_t row : rowsOf(settings, Part::Training, 0, 23))
      EXPECT_EQ(held.count(row), 0u) << "row " << row << " is trained on";
  }
}

TEST(Arrays, RaggedRowsEndAtTheLastPlace) {
  SourceSetting ids{"ids", save<int64_t>("values.npy", DataType::I64, {7}, {1, 2, 3, 4, 5, 6, 7}),
                    save<int64_t>("offsets.npy", DataType::I64, {4}, {0, 2, 2, 7}), 9};
  ids.left = true;
  auto task = open(arrays({ids}), Part::HeldOut);
  Batch batch = Batch().add("ids", DataType::I32, {3, 4}, 10).add("len", DataType::I32, {3}, 5);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  const int32_t expected[] = {9, 9, 1, 2, 9, 9, 9, 9, 4, 5, 6, 7};
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(batch.integer("ids", i), expected[i]);
  EXPECT_EQ(batch.integer("len", 0), 2);
  EXPECT_EQ(batch.integer("len", 2), 4);
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("only the end is read"), std::string::npos);
}

TEST(Arrays, RaggedRowsArePaddedAndCut) {
  SourceSetting ids{"ids", save<int64_t>("values.npy", DataType::I64, {7}, {1, 2, 3, 4, 5, 6, 7}),
                    save<int64_t>("offsets.npy", DataType::I64, {4}, {0, 2, 2, 7}), 9};
  auto task = open(arrays({ids}), Part::HeldOut);
  Batch batch = Batch().add("ids", DataType::I32, {3, 4}, 10).add("len", DataType::I32, {3}, 5);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  const int32_t expected[] = {1, 2, 9, 9, 9, 9, 9, 9, 3, 4, 5, 6};
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(batch.integer("ids", i), expected[i]);
  EXPECT_EQ(batch.integer("len", 0), 2);
  EXPECT_EQ(batch.integer("len", 1), 0);
  EXPECT_EQ(batch.integer("len", 2), 4);
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("1 row of "), std::string::npos);
  EXPECT_NE(mistakeOf(arrays({ids}), Batch().add("ids", DataType::I32, {1, 4}, 9)).find("pad = 9"), std::string::npos);
  EXPECT_NE(mistakeOf(arrays({ids}), Batch().add("ids", DataType::I32, {1, 4}, 10).add("len", DataType::I32, {1}, 4))
                .find("index(T + 1)[B]"),
            std::string::npos);
  ids.offsets = save<int64_t>("falling.npy", DataType::I64, {4}, {0, 3, 2, 7});
  EXPECT_NE(mistakeOf(arrays({ids}), batch).find("row 2 holds 2; offsets begin with 0, never fall"), std::string::npos);
  ids.offsets = save<int64_t>("short.npy", DataType::I64, {3}, {0, 3, 5});
  EXPECT_NE(mistakeOf(arrays({ids}), batch).find("ends with 5"), std::string::npos);
}

SourceSetting fixedOf(const std::string &input, const std::string &file) {
  SourceSetting source{input, file};
  source.fixed = true;
  return source;
}

TEST(Arrays, FixedFilesAreTheSameInEveryBatch) {
  const SourceSetting rows{"n", saveCount("rows.npy", 10)},
      weight = fixedOf("weight", save<float>("weight.npy", DataType::F32, {3}, {0.5f, 1, 2})),
      scale = fixedOf("scale", save<double>("scale.npy", DataType::F64, {}, {4}));
  for (bool stream : {false, true}) {
    TaskSettings settings = arrays({weight, rows, scale});
    settings.stream = stream;
    auto task = open(settings);
    Batch batch = Batch().add("weight", DataType::F32, {3}).add("n", DataType::I32, {2}, 1000).add("scale", DataType::F32, {});
    ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    EXPECT_TRUE(task->isFixed("weight"));
    EXPECT_FALSE(task->isFixed("n"));
    EXPECT_EQ(task->batchesPerEpoch(), 5u);
    for (uint64_t i : {0u, 3u, 7u}) {
      ASSERT_TRUE(task->fill(i, batch.tensors).ok());
      ASSERT_TRUE(task->fillEvaluation(i % 5, batch.tensors).ok());
      EXPECT_EQ(batch.real("weight", 0), 0.5f);
      EXPECT_EQ(batch.real("weight", 2), 2.0f);
      EXPECT_EQ(batch.real("scale", 0), 4.0f);
    }
  }
  const Batch wrong = Batch().add("weight", DataType::F32, {4}).add("n", DataType::I32, {2}, 1000);
  EXPECT_NE(mistakeOf(arrays({weight, rows}), wrong)
                .find("weight.npy has the shape [3], but the input 'weight' takes [4], for it is fixed"),
            std::string::npos);
  EXPECT_NE(mistakeOf(arrays({fixedOf("n", pathOf("rows.npy")), {"m", saveCount("m.npy", 4)}}),
                      Batch().add("n", DataType::I32, {10}, 5).add("m", DataType::I32, {2}, 10))
                .find("rows.npy: row 5 holds 5, but the input 'n' takes 0 to 4"),
            std::string::npos);
  EXPECT_NE(mistakeOf(arrays({weight}), Batch().add("weight", DataType::F32, {3})).find("arrays needs a file"),
            std::string::npos);
  EXPECT_NE(mistakeOf(arrays({rows, {"scale", pathOf("rows.npy")}}),
                      Batch().add("n", DataType::I32, {2}, 1000).add("scale", DataType::F32, {}))
                .find("or say scale = fixed"),
            std::string::npos);
}

TEST(Arrays, StreamsGoOn) {
  TaskSettings settings = arrays({{"n", saveCount("stream.npy", 23)}});
  settings.stream = true;
  auto task = open(settings);
  Batch batch = Batch().add("n", DataType::I32, {2, 4}, 1000);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_EQ(task->batchesPerEpoch(), 2u); // rows of 11 places
  EXPECT_EQ(task->evaluationBatches(), 3u);
  EXPECT_EQ(task->validPlaces(2), 4); // an evaluation has rows of 12, the second of which begins with the last place of the first
  EXPECT_EQ(task->firstPlace(0, 0) * 10 + task->firstPlace(0, 1), 1);
  ASSERT_TRUE(task->fillEvaluation(2, batch.tensors).ok());
  const int32_t expected[] = {8, 9, 10, 11, 19, 20, 21, 22};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(batch.integer("n", i), expected[i]);
  EXPECT_TRUE(task->resetsBefore(0) && !task->resetsBefore(1) && task->resetsBefore(2));
  Batch one = Batch().add("n", DataType::I32, {4}, 1000); // without rows: one stream
  ASSERT_TRUE(task->bind(one.tensors).ok());
  ASSERT_TRUE(task->fill(3, one.tensors).ok());
  EXPECT_EQ(one.integer("n", 0), 12);
}

TEST(Arrays, TypesAreConvertedWhereNothingIsLost) {
  std::vector<SourceSetting> sources = {{"r", save<unsigned char>("bytes.npy", DataType::U8, {2}, {3, 255})},
                                        {"t", save<int32_t>("truth.npy", DataType::I32, {2}, {0, 1})},
                                        {"d", save<float>("single.npy", DataType::F32, {2}, {0.5f, -2})}};
  auto task = open(arrays(sources), Part::HeldOut);
  Batch batch = Batch().add("r", DataType::F32, {2}).add("t", DataType::Bool, {2}).add("d", DataType::F64, {2});
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  EXPECT_EQ(batch.real("r", 1), 255);
  EXPECT_TRUE(!batch.truth("t", 0) && batch.truth("t", 1));
  EXPECT_EQ(static_cast<const double *>(batch.at("d"))[1], -2);
  Batch truth = Batch().add("r", DataType::Bool, {2});
  EXPECT_NE(mistakeOf(arrays({sources[0]}), truth).find("row 0 is 3, and a truth value is 0 or 1"), std::string::npos);
  EXPECT_NE(mistakeOf(arrays({sources[2]}), Batch().add("d", DataType::I32, {2}, 5)).find("holds f32 values"), std::string::npos);
  SourceSetting marks{"r", save<unsigned char>("marks.npy", DataType::Bool, {2}, {0, 1})};
  EXPECT_NE(mistakeOf(arrays({marks}), Batch().add("r", DataType::F32, {2}))
                .find("holds bool values, but the input 'r' takes numbers of any type"),
            std::string::npos);
}

TEST(Arrays, AFileThatShrinksIsAnError) {
  auto task = open(arrays({{"n", saveCount("shrinks.npy", 100)}}));
  Batch batch = Batch().add("n", DataType::I32, {4}, 1000);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  saveCount("shrinks.npy", 100); // another file under the name: the open one is still read
  EXPECT_TRUE(task->fill(0, batch.tensors).ok());
  auto again = open(arrays({{"n", pathOf("shrinks.npy")}}));
  ASSERT_TRUE(again->bind(batch.tensors).ok());
  ASSERT_EQ(truncate(pathOf("shrinks.npy").c_str(), 200), 0);
  Status status;
  for (uint64_t i = 0; i < 25 && status.ok(); ++i)
    status = again->fill(i, batch.tensors);
  EXPECT_NE(status.message().find("shrinks.npy"), std::string::npos);
}

TEST(Jsonl, ListsTextsAndNames) {
  const std::string path = pathOf("rows.jsonl");
  std::ofstream(path) << R"({"t": "hé", "k": "b", "x": [[1, 2], [3, 4]], "f": true})" << "\n\n"
                      << R"({"t": [7], "k": "a", "x": [[5, 6]], "f": false})";
  TaskSettings settings;
  settings.name = "jsonl";
  settings.texts = {path};
  settings.sources = {{"ids", "t"}, {"label", "k"}, {"x", "x"}, {"flag", "f"}};
  auto task = open(settings, Part::HeldOut);
  Batch batch =
      Batch().add("ids", DataType::I32, {2, 3}, 256).add("ids_len", DataType::I32, {2}, 4).add("label", DataType::I32, {2}, 2);
  batch.add("x", DataType::F32, {2, 2, 2}).add("flag", DataType::Bool, {2});
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  const int32_t ids[] = {'h', 0xC3, 0xA9, 7, 0, 0};
  const float x[] = {1, 2, 3, 4, 5, 6, 0, 0};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(batch.integer("ids", i), ids[i]);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(batch.real("x", i), x[i]);
  EXPECT_TRUE(batch.integer("ids_len", 0) == 3 && batch.integer("ids_len", 1) == 1);
  EXPECT_TRUE(batch.integer("label", 0) == 1 && batch.integer("label", 1) == 0); // sorted names
  EXPECT_TRUE(batch.truth("flag", 0) && !batch.truth("flag", 1));
  Vocabulary kept;
  ASSERT_TRUE(Vocabulary::restore(task->vocabulary().save(), kept).ok());
  EXPECT_EQ(kept.classes.at("label"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(Vocabulary::restore(R"({"unit": "bytes", "specials": false, "classes": {"label": ["b", "a"]}})", kept).ok());
  EXPECT_FALSE(Vocabulary::restore(R"({"unit": "bytes", "specials": false, "classes": {"label": ["b", "b"]}})", kept).ok());
}

// One table says what a task gives: gives() and bind agree with it, and every task that it calls working can be made.
TEST(Table, TasksGiveWhatTheTableSays) {
  std::string text = proseOf(300, 10);
  for (const char *name : {"byte_stream", "char_stream", "lm_stream", "lm_blocks", "permutation_lm", "mlm_nsp", "rtd",
                           "ernie_masks", "mlm_blocks", "unilm", "reorder", "distances"}) {
    TaskSettings settings;
    settings.name = name;
    const bool marks = !settings.name.ends_with("_stream") && settings.name != "lm_blocks";
    auto task = makeOrFail(settings, text, Vocabulary::bytes(marks));
    EXPECT_EQ(task->gives(), inputsOf(name));
    Batch batch;
    for (const Given &given : givenBy(name, 264)) {
      std::vector<int64_t> shape;
      for (char axis : given.axes)
        shape.push_back(axis == 'B' ? 2 : axis == 'T' ? 32 : 4);
      batch.add(given.name, given.type, shape, given.type == DataType::I32 && given.values != -1 ? 264 : -1);
    }
    ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    ASSERT_TRUE(task->fill(0, batch.tensors).ok());
    for (const InputTensor &input : batch.tensors) // every one is written, to its end
      EXPECT_NE(static_cast<const unsigned char *>(
                    input.data)[input.elements() * static_cast<int64_t>(tenon::runtime::byteSize(input.type)) - 1],
                0xCD)
          << name << " " << input.name;
  }
}

TEST(Table, DefaultsAreThoseOfTheTable) {
  auto initial = [](const char *task, const char *name) {
    for (const tenon::schema::Parameter &parameter : tenon::schema::find("data task", task)->parameters)
      if (parameter.name == name)
        return parameter.initial;
    return -1.0;
  };
  const TaskSettings settings;
  EXPECT_EQ(settings.rate, initial("mlm_nsp", "rate"));
  EXPECT_EQ(settings.shortRate, initial("mlm_nsp", "short"));
  EXPECT_EQ(settings.rate, initial("rtd", "rate"));
  EXPECT_EQ(settings.keepRate, initial("rtd", "keep"));
  for (const char *task : {"ernie_masks", "mlm_blocks", "unilm", "span_corruption"})
    EXPECT_EQ(settings.rate, initial(task, "rate"));
  EXPECT_EQ(settings.meanSpan, initial("span_corruption", "mean_span"));
  EXPECT_EQ(static_cast<double>(settings.sentinels), initial("translation", "sentinels"));
  EXPECT_EQ(settings.ngram, initial("unilm", "ngram"));
  EXPECT_EQ(static_cast<double>(settings.most), initial("reorder", "most"));
  EXPECT_EQ(static_cast<double>(settings.windowStride), initial("squad", "stride"));
  EXPECT_EQ(static_cast<double>(settings.question), initial("squad", "question"));
  EXPECT_EQ(settings.alpha, initial("permutation_lm", "alpha"));
  EXPECT_EQ(settings.beta, initial("permutation_lm", "beta"));
  EXPECT_EQ(settings.maxSpan, initial("permutation_lm", "max_span"));
  EXPECT_EQ(settings.reuse, initial("permutation_lm", "reuse"));
}
