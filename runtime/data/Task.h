// Data tasks: what a recipe's `data = task(...)` means. A task fills the inputs of an entry, by name, for the batch with a given
// index; the batch is a function of (seed, index) alone, so a run can go on from any index and needs no other state.
#pragma once
#include "runtime/base/DataType.h"
#include "runtime/data/Text.h"
#include <memory>

namespace tenon::data {

using runtime::DataType;

/// One input of an entry with its sizes: dense row-major, owned by the caller.
struct InputTensor {
  std::string name;
  DataType type = DataType::I32; // I32, Bool or a real type that is computed in
  std::vector<int64_t> shape;
  int64_t bound = -1;      // values are in [0, bound); -1: not an index
  bool ofSizes = false;    // the bound is one of sizes of the batch: a place or a length
  bool fixedWidth = false; // the second axis has a size of the model, not one that the run chooses
  void *data = nullptr;    // elements() values, writable
  int64_t elements() const;
  /// Of a real type.
  void setReal(int64_t at, double value) const;
};

/// Where the values of one input come from.
struct SourceSetting {
  std::string input;
  std::string file;         // arrays: .npy file or "x.safetensors:tensor"; jsonl: the key
  std::string offsets = {}; // arrays, ragged(values, offsets): the second file; empty: rows of one size
  int64_t pad = 0;          // what stands behind a ragged row, or before it
  bool fixed = false;       // arrays, fixed(values): the whole file is the input, the same in every batch
  bool left = false;        // arrays, ragged(side = left): rows end at the last place
};

/// What is masked together: single symbols, words as the vocabulary has them, units that the text marks, or of these entities.
enum class WordChoice { Pieces, Whole, Units, Entities };

/// images: how a picture gets the size of the input, and what its numbers 0 to 1 become: (x - 0.5) / 0.5 of half.
enum class PictureCrop { None, Padded, Resized };
enum class PictureNorm { Range, Half, ImageNet };

/// The settings of one task call: text = "...", vocab = "...", and so on.
struct TaskSettings {
  std::string name;               // of a data task that works: frontend/recipes/RecipeSchema.cpp
  std::vector<std::string> texts; // paths or patterns
  std::string vocabulary, merges; // vocabulary file, and of byte pairs that of the merges; empty: see `unit`
  bool sentencePieces = false;    // the vocabulary file is a model of sentencepiece and nothing else
  int64_t sentinels = 0;          // symbols behind those of the model
  Unit unit = Unit::Bytes;        // of the symbols where there is no vocabulary file
  double heldOut = 0;             // last fraction of the text that training does not see
  uint64_t seed = 0;
  bool evaluation = false; // for an evaluation alone, which reads less than one batch too
  int64_t stride = 0;      // of an evaluation by windows that overlap: the places that each moves on by; 0: they do not
  int64_t shift = 0; // with it: how far behind it lies what a place of `ids` predicts, in `ids` itself; 0: no loss is made so
  // Names of classes by input that weights have, of this file: for a training that starts from them or their evaluation.
  std::map<std::string, std::vector<std::string>> classes;
  std::string classesOf;
  // arrays, jsonl
  std::vector<SourceSetting> sources; // by the names of the inputs
  std::string folder;                 // stands before relative paths of files
  bool stream = false;                // arrays: the first axis of a file is time, not samples
  std::string sourceText, targetText; // translation: files of lines
  // translation: symbols of each side in a batch, whose rows are of about one length; 0: batches have the sizes that are bound.
  // With it the most places that a source and a target may have, and what divides the number of rows.
  int64_t tokens = 0, sourcePlaces = 0, targetPlaces = 0, rowMultiple = 1;
  double targetRate = 0.7; // seq2seq: share of the target that is masked
  // single, pairs, tags, groups, squad, images
  std::string file, form, label; // `label`: the input that takes the labels; empty: `label`
  int64_t length = 0;            // symbols of a row; 0: as many as there are places
  bool padLeft = false;
  // permutation_lm
  int64_t reuse = 0;           // tokens by which the window moves: the first part, kept in memory; 0: half of T
  int64_t alpha = 6, beta = 1; // a span of n tokens lies in n * alpha / beta tokens of context
  int64_t maxSpan = 5;
  bool bothWays = false; // the second half of the rows reads the streams backwards
  // mlm_nsp, rtd
  double rate = 0.15; // share of the tokens that is predicted
  WordChoice words = WordChoice::Pieces;
  double shortRate = 0.1; // share of the sequences with a shorter random target length
  double keepRate = 0.15; // rtd: share of the tokens to predict that the generator sees as they are
  bool lowerCase = false;
  std::vector<WordChoice> stages = {WordChoice::Pieces}; // ernie_masks: one of them for each row
  std::vector<double> shares = {2, 1, 1, 2}; // unilm: of rows read both ways, to the right, to the left, from source to target
  double ngram = 0.2;                        // unilm: how often two or three symbols are masked together
  double meanSpan = 3;                       // span_corruption: symbols of a span
  bool staticMasks = false;                  // mlm_blocks: the same in every epoch
  int64_t most = 4;                          // reorder: texts that a row is cut into
  int64_t size = 0;                          // groups: candidates
  std::string input;                         // groups: the input that takes the texts; empty: `ids`
  std::string labels;                        // images: the file beside an array
  PictureCrop crop = PictureCrop::None;      // images
  PictureNorm norm = PictureNorm::Range;     // images
  int64_t cropSize = 0;                      // images: pixels around what is padded; of a side of what is resized
  bool flip = false;                         // images
  int64_t windowStride = 128, question = 64; // squad: symbols that a window moves on by; of a question
  int64_t longestAnswer = 30;                // squad: symbols of an answer that an evaluation may find
};

class SpanTask;

/// The sizes of some batches of a task that chooses them.
struct BatchSize {
  int64_t rows = 1, source = 0, target = 0; // places of both sides; 0: the entry does not read that one
  uint64_t batches = 0;                     // of these sizes in an epoch
};

/// The symbols of the vocabulary file.
Status readSymbols(const TaskSettings &settings, Vocabulary &result);

class DataTask {
public:
  virtual ~DataTask() = default;
  /// The input names that the task can fill.
  virtual std::vector<std::string> gives() const = 0;
  /// Of a task that chooses the sizes of its batches: these, the longest last; `bind` then sees the tensors of each. Empty: all
  /// batches have the sizes that are bound.
  virtual std::vector<BatchSize> sizes() const { return {}; }
  /// Which of them batch `index` of a training has. An evaluation has the last alone.
  virtual size_t sizeOf(uint64_t) const { return 0; }
  /// Checks that the task fills every input at its sizes, and remembers the positions. Must succeed before `fill`.
  virtual Status bind(const std::vector<InputTensor> &inputs) = 0;
  /// Writes the batch with this index into the tensors that `bind` saw (same order and shapes).
  /// Errors: a value of a file that the input cannot hold, a file that cannot be read any more.
  virtual Status fill(uint64_t index, std::vector<InputTensor> &inputs) const = 0;
  /// Batches before the text begins anew; at least 1.
  virtual uint64_t batchesPerEpoch() const = 0;
  /// Whether the states of the context are reset before this batch: nothing carries over from the batch before it.
  virtual bool resetsBefore(uint64_t index) const = 0;
  // An evaluation goes once over everything, in order, also over what is left behind the whole batches: its last batches are
  // smaller.
  /// Batches of an evaluation: batchesPerEpoch() and the smaller ones behind them.
  virtual uint64_t evaluationBatches() const { return batchesPerEpoch(); }
  /// Whether the states are reset before batch `index` of an evaluation.
  virtual bool resetsInEvaluation(uint64_t index) const { return resetsBefore(index); }
  /// Rows of batch `index` of an evaluation that count: so many first ones, at least 1. -1: all.
  virtual int64_t validRows(uint64_t) const { return -1; }
  /// The same for the places of each row, along the axis T of a text. -1: all.
  virtual int64_t validPlaces(uint64_t) const { return -1; }
  /// Whether the model reads how many places of each row count, so that what it makes of a shorter row is right.
  virtual bool tellsLengths() const { return false; }
  /// The first of its places that counts, in one row: those before it are context that another row has covered.
  virtual int64_t firstPlace(uint64_t, int64_t) const { return 0; }
  /// Writes batch `index` of an evaluation, into the tensors that `bind` saw (rows and places that do not count repeat the last
  /// that does), or into smaller ones: of validRows x validPlaces.
  virtual Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const { return fill(index, inputs); }
  /// The row of the data, from 0 on, that an evaluation has at this place: what is held out is a choice, in an order of its own.
  virtual uint64_t evaluationRow(uint64_t place) const { return place; }
  /// Symbols that a whole evaluation predicts or rows that it reads, and all that the data has; of tasks with random batches both
  /// are 0.
  struct Extent {
    int64_t covered = 0, all = 0;
    const char *unit = "symbols"; // or "rows"
  };
  virtual Extent extent() const { return {}; }
  /// Of these, what batch `index` of an evaluation adds; -1: the rows or places of it that count.
  virtual int64_t covers(uint64_t) const { return -1; }
  /// Whether an input is the same in every batch, so that its axes are not those of the batch.
  virtual bool isFixed(const std::string &) const { return false; }

  /// Symbols of text that one batch moves on by: the unit of tokens_per_second.
  virtual int64_t tokensPerBatch() const = 0;
  /// Of batch `index`, where they differ.
  virtual int64_t tokensIn(uint64_t) const { return tokensPerBatch(); }
  /// What the user should know about the data; after `bind`.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What the data are, in lines for the start of a training; after `bind`.
  virtual std::vector<std::string> summary() const { return {}; }
  /// The task where its rows are windows of texts in which answers stand, else null.
  virtual const SpanTask *spans() const { return nullptr; }
  const Vocabulary &vocabulary() const { return symbols; }
  /// Whether losses are per byte or character, so that loss / ln 2 is in bits per character.
  virtual bool perCharacter() const { return false; }
  /// Whether what is predicted may be symbols, so that exp of a loss is a perplexity: not where labels, answers or orders are.
  virtual bool mayPredictSymbols() const { return true; }

protected:
  Vocabulary symbols;
};

enum class Part { Training, HeldOut };

/// Reads the texts and makes the task. `known`: the vocabulary of the run (null: made from the settings). Errors name the
/// setting.
Status makeTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result);

/// The task over a text in memory, for tests and for `makeTask`.
Status makeTaskFromText(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                        std::unique_ptr<DataTask> &result);

/// Makes a task of files of its own, or of a text with its vocabulary; nothing where it cannot be opened.
template <typename Task>
Status openTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<Task>(settings, part);
  if (Status status = task->open(known); status.failed())
    return status;
  result = std::move(task);
  return {};
}
template <typename Task>
Status readTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary, std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<Task>(settings, std::move(vocabulary));
  if (Status status = task->read(text); status.failed())
    return status;
  result = std::move(task);
  return {};
}

} // namespace tenon::data
