#include "Batch.h"
#include "runtime/train/Selection.h"
#include <cmath>

using namespace tenon::data;
using namespace tenon::data::test;

namespace {

/// A text whose symbols tell their place.
std::string placesOf(size_t length) {
  std::string text(length, ' ');
  for (size_t i = 0; i < length; ++i)
    text[i] = static_cast<char>(i);
  return text;
}

TaskSettings sliding(int64_t stride) {
  TaskSettings settings;
  settings.name = "byte_stream";
  settings.stride = stride;
  return settings;
}

} // namespace

TEST(Sliding, EverySymbolIsPredictedOnceWithItsContext) {
  constexpr int64_t T = 8;
  for (int64_t rows : {1, 3})
    for (int64_t stride : {1, 3, 8})
      for (int64_t length : {2, 5, 9, 10, 40, 101}) {
        const std::string text = placesOf(static_cast<size_t>(length));
        auto task = makeOrFail(sliding(stride), text, Vocabulary::bytes(false));
        Batch batch = Batch().add("ids", DataType::I32, {rows, T}, 256).add("target", DataType::I32, {rows, T}, 256);
        ASSERT_TRUE(task->bind(batch.tensors).ok());
        std::vector<int> predicted(text.size());
        for (uint64_t i = 0; i < task->evaluationBatches(); ++i) {
          EXPECT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
          EXPECT_TRUE(task->resetsInEvaluation(i));
          for (int64_t b = 0; b < task->validRows(i); ++b)
            for (int64_t t = task->firstPlace(i, b); t < task->validPlaces(i); ++t) {
              const int32_t target = batch.integer("target", b * T + t);
              ++predicted[static_cast<size_t>(target)];
              for (int64_t back = 0; back <= t; ++back) // the symbols before it, without a gap
                EXPECT_EQ(batch.integer("ids", b * T + t - back), target - 1 - back);
              EXPECT_GE(t, std::min<int64_t>(target - 1, T - stride));
            }
        }
        EXPECT_EQ(predicted[0], 0);
        for (size_t i = 1; i < text.size(); ++i)
          EXPECT_EQ(predicted[i], 1) << "symbol " << i << " of " << length << ", stride " << stride;
        EXPECT_EQ(task->extent().covered, length - 1);
      }
}

TEST(Sliding, WhatCannotSlideIsRefused) {
  Batch batch = Batch().add("ids", DataType::I32, {1, 8}, 256).add("target", DataType::I32, {1, 8}, 256);
  EXPECT_NE(makeOrFail(sliding(9), placesOf(50), Vocabulary::bytes(false))
                ->bind(batch.tensors)
                .message()
                .find("windows predict 8 places"),
            std::string::npos);
  EXPECT_TRUE(makeOrFail(sliding(2), "a", Vocabulary::bytes(false))->bind(batch.tensors).failed());
  TaskSettings settings = sliding(2);
  settings.name = "mlm_nsp";
  std::unique_ptr<DataTask> task;
  EXPECT_TRUE(makeTaskFromText(settings, "a\nb\n", Vocabulary::bytes(true), task).failed());
}

TEST(Selection, TheFirstOfEqualOnesIsTheBest) {
  using tenon::train::BestEvaluation;
  using tenon::train::updateBest;
  const tenon::train::Measure highest{"acc", false}, lowest{"nll", true};
  std::optional<BestEvaluation> best;
  EXPECT_FALSE(updateBest(highest, std::nan(""), 1, true, best));
  EXPECT_TRUE(updateBest(highest, 0.5, 2, true, best));
  EXPECT_FALSE(updateBest(highest, 0.5, 3, true, best));
  EXPECT_FALSE(updateBest(highest, 0.4, 3, true, best)) << "once a step";
  EXPECT_FALSE(updateBest(highest, std::nan(""), 4, true, best));
  EXPECT_FALSE(updateBest(highest, 0.5, 5, false, best)) << "at the end of a command";
  EXPECT_EQ(best->step, 2u);
  EXPECT_EQ(best->since, 2u);
  EXPECT_TRUE(updateBest(highest, 0.75, 6, false, best));
  EXPECT_EQ(best->step, 6u);
  EXPECT_EQ(best->since, 2u) << "a run without that command waits on";
  EXPECT_FALSE(updateBest(highest, 0.6, 7, true, best)) << "kept is the one of step 6";
  EXPECT_EQ(best->since, 0u) << "and awaited was one that is better than that of step 2";
  EXPECT_EQ(best->awaitedStep, 7u);
  EXPECT_TRUE(updateBest(lowest, 3, 8, true, best)) << "another measure begins anew";
  EXPECT_FALSE(updateBest(lowest, 4, 9, true, best));
  EXPECT_TRUE(updateBest(lowest, 2, 10, true, best));
}
