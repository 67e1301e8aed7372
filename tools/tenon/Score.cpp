// tenon score: what texts are worth beside others that are right, line by line.
#include "runtime/data/Bleu.h"
#include "runtime/data/Text.h"
#include "runtime/data/Utf8.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/Say.h"
#include <cstdio>

namespace tenon::driver {

namespace {

struct Options {
  std::string texts;
  std::vector<std::string> references;
  bool json = false;
};

struct LinesOfFile {
  std::string text;
  std::vector<std::string_view> lines;
};

Status readLines(const std::string &path, LinesOfFile &file) {
  if (Status status = data::readMarkedFile(path, file.text); status.failed())
    return status;
  for (size_t begin = 0; begin < file.text.size();) {
    const size_t end = std::min(file.text.find('\n', begin), file.text.size());
    file.lines.push_back(std::string_view(file.text).substr(begin, end - begin));
    if (data::malformedAt(file.lines.back()))
      return inputError(path, ":", file.lines.size(), ": the line is not UTF-8");
    begin = end + 1;
  }
  return file.lines.empty() ? inputError(path, " has no lines") : Status();
}

std::string numberText(double value, bool json) {
  char text[40];
  snprintf(text, sizeof text, json ? "%.9g" : "%.6f", value);
  return text;
}

Status run(const Options &options) {
  LinesOfFile texts;
  if (Status status = readLines(options.texts, texts); status.failed())
    return status;
  std::vector<LinesOfFile> references(options.references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    if (Status status = readLines(options.references[i], references[i]); status.failed())
      return status;
    if (references[i].lines.size() != texts.lines.size())
      return inputError("line i of '", options.references[i], "' is what line i of '", options.texts,
                        "' should say, and they have ", references[i].lines.size(), " and ",
                        runtime::counted(texts.lines.size(), "line"));
  }
  data::BleuCounts counts;
  for (size_t line = 0; line < texts.lines.size(); ++line) {
    std::vector<std::string_view> right;
    for (const LinesOfFile &each : references)
      right.push_back(each.lines[line]);
    counts.add(texts.lines[line], right);
  }
  const data::Bleu bleu = counts.result();
  std::vector<std::pair<std::string, std::string>> numbers = {{"bleu", numberText(bleu.score, options.json)}};
  for (size_t i = 0; i < data::Bleu::kOrders; ++i)
    numbers.emplace_back(concat("precision_", i + 1), numberText(bleu.precisions[i], options.json));
  numbers.emplace_back("brevity_penalty", numberText(bleu.brevityPenalty, options.json));
  numbers.emplace_back("words", std::to_string(bleu.length));
  numbers.emplace_back("reference_words", std::to_string(bleu.referenceLength));
  numbers.emplace_back("lines", std::to_string(texts.lines.size()));
  std::string text;
  for (const auto &[name, number] : numbers)
    text += options.json ? concat(text.empty() ? "{" : ", ", "\"", name, "\": ", number) : concat(name, " ", number, "\n");
  show("%s%s", text.c_str(), options.json ? "}\n" : "");
  return {};
}

} // namespace

void addScore(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("score", "BLEU of texts beside others that are right");
  auto options = std::make_shared<Options>();
  command->add_option("texts", options->texts, "a text in each line, as tenon generate prints them")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--references", options->references,
                   "what each line should say; of several files the one counts that fits a row of words best")
      ->type_name("FILE")
      ->required();
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Examples:\n  tenon generate run --input src=@src.npy --input src_len=@len.npy > found.de\n"
                  "  tenon score found.de --references test.de");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
