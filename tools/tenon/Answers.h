// Answers to questions about texts, from the scores that a model gives to places.
#pragma once
#include "runtime/data/Answers.h"
#include "runtime/train/Session.h"
#include "tools/tenon/Command.h"

namespace tenon::driver {

struct Answers {
  data::AnswerSearch::Result result;
  std::string predictions; // of a file
};

/// The answers to all questions of `task`, whose rows are windows of texts; nothing where the model has no entry with the outputs
/// `first` and `last`: scores of each place, or the best places with `first_score` and `last_score` beside them
/// (docs/training.md, "Questions"). An output `none` of it says how sure it is that a window has no answer; `threshold`: above
/// which a question gets none. Binds the task to that entry, whose dims are those of `evaluation`.
Expected<std::optional<Answers>> findAnswers(data::DataTask &task, const runtime::Context &evaluation,
                                             const std::shared_ptr<runtime::Parameters> &parameters,
                                             const std::shared_ptr<runtime::ThreadPool> &pool, std::optional<int64_t> id,
                                             double threshold);

} // namespace tenon::driver
