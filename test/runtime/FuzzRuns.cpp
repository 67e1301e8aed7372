// The files of a run directory and its texts, for fuzz-readers: what is accepted must also hold together.
#include "runtime/base/Hash.h"
#include "runtime/data/Utf8.h"
#include "runtime/files/Checkpoint.h"
#include "runtime/train/Metrics.h"
#include "runtime/train/RunDirectory.h"
#include "test/runtime/FuzzEntry.h"
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace tenon::fuzz {

using runtime::concat;

namespace {

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

/// The hash of the manifest is right in most inputs, so that its readers see what a writer with other bugs would write.
bool tryCheckpoint(Random &random, const std::string &folder) {
  const std::string path = folder + "/step-7", data(300, 'd'), more(20, 'm');
  std::string body =
      concat("{\"format\": 1, \"step\": 7, \"metadata\": {\"position\": 70, \"seed\": \"42\", \"skipped\": 0, \"seconds\": 1.5, "
             "\"signature\": \"s\", \"optimizer\": \"adam\", \"dims\": {\"B\": 2}},\n\"files\": [\n"
             "{\"name\": \"parameters.safetensors\", \"bytes\": 300, \"chunks\": [\"",
             runtime::hash128(data),
             "\"]},\n"
             "{\"name\": \"states.safetensors\", \"bytes\": 20, \"chunks\": [\"",
             runtime::hash128(more),
             "\"]},\n"
             "{\"name\": \"empty\", \"bytes\": 0, \"chunks\": []}]}");
  const bool bodyChanges = random.below(4) != 0, fileChanges = random.below(4) == 0;
  if (bodyChanges)
    mutate(body, random);
  std::string text = concat("{\"hash\": \"", runtime::hash128(body), "\",\n\"body\": ", body, "}\n");
  if (random.below(16) == 0)
    mutate(text, random);
  std::string changed = data;
  if (fileChanges)
    mutate(changed, random);
  mkdir(path.c_str(), 0777);
  writeAll(path + "/parameters.safetensors", changed);
  writeAll(path + "/states.safetensors", more);
  writeAll(path + "/empty", "");
  writeAll(path + "/manifest.json", text);
  std::vector<std::string> skipped;
  auto newest = runtime::loadNewestCheckpoint(folder, skipped);
  require(newest.ok() == runtime::loadCheckpoint(path + "/").ok(),
          "a checkpoint is valid by itself and not as the newest, or the other way round");
  require(newest.ok() || skipped.size() == 1, "a checkpoint is skipped without a word");
  for (size_t i = 0; newest.ok() && i < newest->files.size(); ++i)
    require(newest->files[i].find('/') == std::string::npos, "a file of a checkpoint lies outside of it");
  return newest.ok();
}

bool trySettings(Random &random, const std::string &folder) {
  std::string text =
      "{\"format\": 1, \"text\": \"/data/text.txt\", \"vocabulary\": \"/data/v\", \"valid_text\": {\"hex\": \"2fe9\"}, "
      "\"unit\": \"bytes\", \"held_out\": 0.05, \"valid_every\": 500, \"seed\": \"42\", \"bind\": {\"B\": 8, \"T\": 128}, "
      "\"files\": [{\"path\": \"/data/text.txt\", \"bytes\": 4000000000000, \"xxh3\": \"0123456789abcdef0123456789abcdef\"}]}\n";
  mutate(text, random);
  const train::RunDirectory run{folder};
  writeAll(run.settingsFile(), text);
  auto settings = train::readRunSettings(run);
  if (!settings.ok())
    return false;
  require(train::writeRunSettings(run, *settings).ok(), "settings that were read cannot be written");
  auto again = train::readRunSettings(run);
  require(again.ok(), "settings that were written cannot be read");
  require(again->data.text == settings->data.text && again->data.vocabulary == settings->data.vocabulary &&
              again->data.validText == settings->data.validText && again->data.unit == settings->data.unit &&
              again->data.heldOut == settings->data.heldOut && again->data.validEvery == settings->data.validEvery &&
              again->seed == settings->seed && again->bind == settings->bind && again->files == settings->files,
          "settings do not come back as they were");
  return true;
}

/// Accepted: nothing was damaged.
bool tryMetrics(Random &random, const std::string &folder) {
  const std::string path = folder + "/metrics.jsonl";
  std::string text;
  for (int step = 1; step <= 12; ++step)
    text += concat("{\"step\": ", step, ", \"loss\": ", step == 5 ? "null" : "1.25", ", \"seconds\": 1e-3}\n");
  mutate(text, random);
  writeAll(path, text);
  const uint64_t lastStep = random.below(14);
  std::vector<std::string> notes, more;
  {
    train::MetricsFile file;
    require(file.open(path, lastStep, notes).ok(), "a damaged file of metrics stops the run");
    train::MetricsLine line;
    line.add("step", lastStep);
    require(file.write(line).ok(), "no line can be added");
  }
  const std::string kept = contentsOf(path);
  train::MetricsFile again;
  require(again.open(path, lastStep, more).ok() && more.empty() && contentsOf(path) == kept, "what was kept is not kept again");
  require(notes.empty() || contentsOf(path + ".1") == text, "the damaged file is not kept");
  std::remove((path + ".1").c_str());
  return notes.empty();
}

namespace {

const char *const kProse = "The first line, of some words.\nA second; na\xc3\xafve \xe2\x82\xac 12!\n\nAnother document begins "
                           "here\r\nand ends. \xf0\x9f\x98\x80\n";
const char *const kSymbols =
    "<pad>\n<unk>\n<cls>\n<sep>\n<mask>\n<eod>\n<eop>\n<eos>\nthe\nfirst\n##st\n##ly\nline\n,\n.\nna\xc3\xafve\n";

/// What every vocabulary must do, whatever it was read from.
void useVocabulary(const data::Vocabulary &vocabulary, const std::string &text) {
  std::vector<int32_t> ids;
  if (vocabulary.encode(text, ids).failed())
    return;
  int32_t previous = -1;
  for (int32_t id : ids) {
    require(id >= 0 && id < vocabulary.size(), "an id is outside of its vocabulary");
    (void)vocabulary.text(id, previous);
    (void)vocabulary.continuesWord(previous, id);
    previous = id;
  }
  data::Vocabulary back;
  require(data::Vocabulary::restore(vocabulary.save(), back).ok(), "a vocabulary that was saved cannot be restored");
  require(back.size() == vocabulary.size() && back.save() == vocabulary.save(), "a vocabulary does not come back as it was");
}

/// Byte pairs: of characters, or with a symbol for each byte.
std::pair<std::string, std::string> pairFiles(bool ofBytes) {
  std::string vocab = R"({"<unk>": 0, "<mask>": 1, "th": 2, "t": 3, "h": 4)";
  if (!ofBytes)
    return {vocab + R"(, "e</w>": 5, "the</w>": 6})", "#version: 0.2\nt h\nth e</w>\n"};
  int64_t id = 5;
  char32_t unseen = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool visible = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    std::string symbol;
    data::appendCodePoint(symbol, visible ? byte : unseen++);
    if (symbol != "t" && symbol != "h")
      vocab += runtime::concat(", ", runtime::quoteJson(symbol), ": ", id++);
  }
  return {runtime::concat(vocab, ", \"the\": ", id, "}"), "t h\nth e\n"};
}

bool tryPairs(Random &random, const std::string &folder) {
  auto [vocab, merges] = pairFiles(random.below(2) == 0);
  if (random.below(4) != 0)
    mutate(random.below(2) == 0 ? vocab : merges, random);
  writeAll(folder + "/vocab.json", vocab);
  writeAll(folder + "/merges", merges);
  data::Vocabulary vocabulary;
  if (data::Vocabulary::read(folder + "/vocab.json", folder + "/merges", vocabulary).failed())
    return false;
  std::string text = kProse;
  text += "the <mask> the\n\n \xff the <unk";
  mutate(text, random);
  useVocabulary(vocabulary, text);
  return true;
}

/// A field of bytes in the format of protocol buffers.
std::string field(char number, const std::string &bytes) {
  std::string size;
  for (size_t rest = bytes.size();; rest >>= 7) {
    size += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
    if (rest <= 127)
      break;
  }
  return concat(static_cast<char>(number << 3 | 2), size, bytes);
}

/// A model of sentencepiece whose rules make A to a: a table whose root leads to its second half, where A leads to its value.
std::string pieceFile(bool ofBytePairs) {
  std::string model, table(4 * 512, '\0');
  auto unit = [&](size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i)
      table[4 * at + i] = static_cast<char>(value >> 8 * i);
  };
  unit(0, 256u << 10);
  unit(256 ^ 'A', (256u ^ 'A' ^ 2u) << 10 | 0x100u | 'A');
  unit(2, 1u << 31);
  char score = 0;
  for (const char *spelling : {"<unk>", "<sep>", "\u2581", "t", "h", "e", "th", "the", "\u2581the", "a", "5,", "<cls>"}) {
    const std::string text = spelling;
    const char kind = text == "<unk>" ? 2 : text == "<sep>" || text == "<cls>" ? 3 : 1;
    model += field(1, concat(field(1, text), '\x15', std::string(2, '\0'), score++, '\xC0', '\x18', kind));
  }
  const std::string rules = concat(std::string({0, 8, 0, 0}), table, "a", std::string(1, '\0'));
  return concat(model, field(2, concat('\x18', ofBytePairs ? '\2' : '\1')), field(3, field(2, rules)));
}

bool tryPieces(Random &random, const std::string &folder) {
  std::string model = pieceFile(random.below(2) == 0), text = "the A, 5, <sep> th\xff\u2581";
  for (uint64_t times = random.below(4); times > 0; --times)
    mutate(model, random);
  writeAll(folder + "/vocab.model", model);
  data::Vocabulary vocabulary;
  if (data::Vocabulary::read(folder + "/vocab.model", "", vocabulary).failed())
    return false;
  text += kProse;
  mutate(text, random);
  useVocabulary(vocabulary, text);
  return true;
}

} // namespace

/// A file of symbols, or the copy that a run keeps.
bool tryVocabulary(Random &random, const std::string &folder) {
  if (const uint64_t kind = random.below(6); kind < 3)
    return kind == 0 ? tryPieces(random, folder) : tryPairs(random, folder);
  const std::string path = folder + "/vocabulary";
  data::Vocabulary vocabulary;
  std::string text = kSymbols;
  bool good;
  if (random.below(2) == 0) {
    mutate(text, random);
    writeAll(path, text);
    good = data::Vocabulary::read(path, "", vocabulary).ok();
  } else {
    writeAll(path, text);
    if (data::Vocabulary::read(path, "", vocabulary).failed())
      return false;
    const uint64_t kind = random.below(3);
    text = kind == 0   ? vocabulary.save()
           : kind == 1 ? data::Vocabulary::characters(kProse, random.below(2)).save()
                       : data::Vocabulary::bytes(random.below(2)).save();
    mutate(text, random);
    good = data::Vocabulary::restore(text, vocabulary).ok();
  }
  if (good)
    useVocabulary(vocabulary, kProse);
  return good;
}

namespace {

/// `span_corruption` has sides of lengths of their own.
Entry entryFor(const std::string &task, int64_t B, int64_t T, int64_t K, int64_t symbols) {
  using runtime::DataType;
  Entry entry;
  if (task == "span_corruption") {
    entry.add("src", DataType::I32, {B, T}, symbols);
    entry.add("src_len", DataType::I32, {B}, T + 1);
    entry.add("tgt", DataType::I32, {B, 2 * K}, symbols);
    entry.add("tgt_len", DataType::I32, {B}, 2 * K + 1);
    entry.add("label", DataType::I32, {B, 2 * K}, symbols);
    return entry;
  }
  entry.add("ids", DataType::I32, {B, T}, symbols);
  const bool permuted = task == "permutation_lm";
  const bool replaced = task == "rtd";
  if (task.ends_with("_stream") || task == "lm_blocks") {
    entry.add("target", DataType::I32, {B, T}, symbols);
    return entry;
  }
  entry.add("seg", DataType::I32, {B, T}, task == "unilm" ? 6 : 4);
  if (task == "reorder" || task == "distances") {
    entry.add(task == "reorder" ? "order" : "distance", DataType::I32, {B}, task == "reorder" ? 33 : 3);
    entry.add("len", DataType::I32, {B}, T + 1);
    return entry;
  }
  entry.add("at", DataType::I32, {B, K}, T);
  if (replaced)
    entry.add("masked", DataType::I32, {B, T}, symbols);
  else
    entry.add("word", DataType::I32, {B, K}, symbols);
  entry.add("weight", DataType::F32, {B, K}, -1);
  if (permuted)
    entry.add("rank", DataType::I32, {B, T}, -1);
  else
    entry.add("len", DataType::I32, {B}, T + 1);
  return entry;
}

} // namespace

/// A text through every task; accepted: batches came out.
bool tryText(Random &random, const std::string &folder) {
  const char *const tasks[] = {"byte_stream", "char_stream", "lm_stream", "lm_blocks", "permutation_lm", "mlm_nsp",        "rtd",
                               "ernie_masks", "mlm_blocks",  "unilm",     "reorder",   "distances",      "span_corruption"};
  data::TaskSettings settings;
  settings.name = tasks[random.below(13)];
  settings.seed = random.next();
  settings.reuse = static_cast<int64_t>(random.below(6));
  settings.bothWays = random.below(2);
  settings.words = random.below(2) ? data::WordChoice::Whole : data::WordChoice::Pieces;
  settings.heldOut = random.below(3) == 0 ? static_cast<double>(random.below(100)) / 100 : 0;
  settings.texts = {folder + "/text*"};
  std::string text;
  for (uint64_t i = 0, repeats = random.below(8); i <= repeats; ++i)
    text += kProse;
  mutate(text, random);
  writeAll(folder + "/text", text);
  if (settings.name == "char_stream" || random.below(4) == 0)
    settings.unit = data::Unit::Characters;
  const bool corrupts = settings.name == "span_corruption";
  if (random.below(4) == 0 || corrupts) {
    settings.vocabulary = folder + "/words";
    std::string symbols = kSymbols;
    for (uint64_t i = 0, sentinels = corrupts ? random.below(8) : 0; i < sentinels; ++i)
      symbols += concat("<extra_id_", i, ">\n");
    writeAll(settings.vocabulary, symbols);
  }
  if (corrupts) {
    settings.rate = 0.05 * static_cast<double>(1 + random.below(18));
    settings.meanSpan = static_cast<double>(1 + random.below(4));
  }
  std::unique_ptr<data::DataTask> task;
  const data::Part part = random.below(2) ? data::Part::Training : data::Part::HeldOut;
  if (data::makeTask(settings, part, nullptr, task).failed())
    return false;
  Entry entry = entryFor(settings.name, 1 + static_cast<int64_t>(random.below(4)), 1 + static_cast<int64_t>(random.below(24)),
                         1 + static_cast<int64_t>(random.below(6)), task->vocabulary().size());
  if (task->bind(entry.tensors).failed())
    return false;
  // What is held out may be shorter than one batch: it is evaluated, not trained with.
  const bool trains = part == data::Part::Training;
  const uint64_t epoch = trains ? task->batchesPerEpoch() : task->evaluationBatches();
  require(epoch > 0, "a task has no batch");
  for (uint64_t index : {uint64_t{0}, epoch - 1, trains ? epoch : epoch / 2, random.below((trains ? 10 : 1) * epoch)}) {
    require((trains ? task->fill(index, entry.tensors) : task->fillEvaluation(index, entry.tensors)).ok(), "a batch is refused");
    requireBounds(entry, settings.name + (trains ? ", training," : ", held out,"), index);
  }
  return true;
}

} // namespace tenon::fuzz
