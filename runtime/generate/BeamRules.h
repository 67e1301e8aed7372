// Which hypotheses a beam search goes on with and which it gives, by the rules of three public implementations. Numbers only:
// what runs the model is in Search.h.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::generate {

/// T2t: tensor2tensor's beam_search.py; Hf: transformers' BeamSearchScorer; UniLm: UniLM's decoder.
enum class BeamRule { T2t, Hf, UniLm };

struct Beam {
  int64_t size = 4;
  BeamRule rule = BeamRule::T2t;
  double alpha = 0.6;               // exponent of the length penalty
  int64_t noRepeat = 0;             // no sequence of so many symbols twice; 0: any
  std::vector<int32_t> except = {}; // symbols: a sequence with one of them may come again
};

constexpr int64_t kMostBeams = 1'000'000;
constexpr double kMostAlpha = 10; // of either sign: a power of a length that no double could hold orders nothing
constexpr int64_t kMostSymbols = 1'000'000'000'000'000; // of a text: sums with what stands before it do not overflow
runtime::Status checkBeam(const Beam &beam);
runtime::Status checkLimit(int64_t limit);

/// Sequences as a tree: what several beams share stands once.
class Sequences {
public:
  /// Appends; `parent` -1: a first symbol.
  int32_t add(int32_t parent, int32_t symbol);
  /// The symbols up to a node, first to last; none for -1.
  std::vector<int32_t> upTo(int32_t node) const;

private:
  struct Node {
    int32_t parent, symbol;
  };
  std::vector<Node> nodes;
};

struct Hypothesis {
  std::vector<int32_t> symbols; // without what it began with, and without the stop symbol
  double score = 0;             // by which the rule orders them
  bool ended = false;           // by the stop symbol
};

/// What a search over several texts is about.
struct BeamProblem {
  int64_t texts = 1, symbols = 0, limit = 0;
  int32_t stop = 0;
  std::vector<std::vector<int32_t>> prompts; // of each text: what it begins with
};

/// A search over texts * size beams. The beams of a text stand one after the other.
class BeamSearch {
public:
  static std::unique_ptr<BeamSearch> create(const Beam &beam, BeamProblem problem);
  virtual ~BeamSearch() = default;

  virtual bool isOver() const = 0;
  /// Takes log probabilities [texts * size, symbols], which it may change, and chooses: parents() and chosen() are of the beams
  /// from now on.
  void advance(std::vector<double> &logProbabilities);
  /// Per beam: which beam of the same text it goes on from, and with which symbol.
  const std::vector<int32_t> &parents() const { return parent; }
  const std::vector<int32_t> &chosen() const { return symbol; }
  /// Best first.
  virtual std::vector<Hypothesis> hypotheses(int64_t text) const = 0;

protected:
  struct Candidate {
    double score;
    int32_t beam, symbol; // of the text
  };
  BeamSearch(const Beam &beam, BeamProblem problem);
  virtual void choose(int64_t text, const double *rows) = 0;
  virtual void stepDone() {}
  /// What is added to the log probability of a symbol that would repeat.
  virtual double penaltyOfRepeating() const;
  /// The first symbol that may count as repeated: behind the prompt, or with it.
  virtual bool countsPrompt() const { return false; }
  /// The `count` best of all symbols of a text's beams by `score(beam, log probability)`, which grows with the log probability;
  /// of equal ones that of the first beam, and then of the smallest symbol. `rows` [size, symbols].
  template <typename Score> std::vector<Candidate> best(const double *rows, int64_t count, Score score) const;
  void set(int64_t text, int64_t beamOfText, const Candidate &candidate, double logProbability);
  size_t at(int64_t text, int64_t beamOfText) const { return static_cast<size_t>(text * beam.size + beamOfText); }
  Hypothesis hypothesis(int32_t node, double score, bool ended) const;

  const Beam beam;
  const BeamProblem problem;
  Sequences sequences;
  int64_t made = 0;          // symbols so far
  std::vector<double> sum;   // per beam: its log probability
  std::vector<int32_t> node; // per beam: in `sequences`
  std::vector<int32_t> parent, symbol;
  std::vector<int32_t> previousNodes; // of the beams that are being continued

private:
  void forbidRepeating(std::vector<double> &logProbabilities) const;
};

} // namespace tenon::generate
