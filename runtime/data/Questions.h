// Questions about texts that their answers stand in, as SQuAD has them.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::data {

using runtime::Status;

struct Question {
  std::string id, text;
  size_t context = 0;               // of Questions::contexts
  std::vector<std::string> answers; // none: the text does not say it (SQuAD 2.0)
  size_t begin = 0, end = 0;        // of the first answer in its context, in bytes
  std::string place;                // "train.jsonl:17", for messages
};

struct Questions {
  std::vector<std::string> contexts;
  std::vector<Question> all;
  std::map<std::string, std::string> places; // of the ids that are given, for messages
};

/// A file of lines, each an object {"id", "question", "context", "answers": {"text": [..], "answer_start": [..]}}, or one in the
/// form of SQuAD: {"data": [{"paragraphs": [{"context", "qas": [{"id", "question", "answers": [{"text", "answer_start"}]}]}]}]}.
/// Ids are of one question each. "answers" may be empty; "is_impossible" may say so once more. Places count characters. Errors
/// name file and line, or the question.
Status readQuestions(const std::string &path, Questions &result);

} // namespace tenon::data
