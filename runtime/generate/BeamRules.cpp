#include "runtime/generate/BeamRules.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::generate {

runtime::Status checkBeam(const Beam &beam) {
  if (beam.size < 1 || beam.size > kMostBeams)
    return runtime::usageError("a beam search goes on with 1 to ", kMostBeams, " texts, not ", beam.size);
  if (!(beam.alpha >= -kMostAlpha && beam.alpha <= kMostAlpha)) // false for NaN
    return runtime::usageError("the length penalty alpha of a beam search is a number from -", kMostAlpha, " to ", kMostAlpha,
                               ", not ", beam.alpha);
  return {};
}

runtime::Status checkLimit(int64_t limit) {
  return limit >= 0 && limit <= kMostSymbols
             ? runtime::Status()
             : runtime::usageError("the limit of a text is a number of symbols from 0 to ", kMostSymbols, ", not ", limit);
}

// ---- what the rules have in common

int32_t Sequences::add(int32_t parent, int32_t symbol) {
  nodes.push_back({parent, symbol});
  return static_cast<int32_t>(nodes.size() - 1);
}

std::vector<int32_t> Sequences::upTo(int32_t node) const {
  std::vector<int32_t> symbols;
  for (; node >= 0; node = nodes[static_cast<size_t>(node)].parent)
    symbols.push_back(nodes[static_cast<size_t>(node)].symbol);
  std::reverse(symbols.begin(), symbols.end());
  return symbols;
}

BeamSearch::BeamSearch(const Beam &beam, BeamProblem problem)
    : beam(beam), problem(std::move(problem)), sum(static_cast<size_t>(this->problem.texts * beam.size)), node(sum.size(), -1),
      parent(sum.size()), symbol(sum.size()), previousNodes(node) {}

double BeamSearch::penaltyOfRepeating() const { return -std::numeric_limits<double>::infinity(); }

namespace {

/// Symbols that are passed over together where none of them can be among the best.
constexpr int64_t kRun = 64;

/// The highest of kRun values, none of which is NaN; eight at a time, which the compiler makes vectors of.
double highestOfRun(const double *values) {
  using Reals [[gnu::vector_size(64)]] = double;
  Reals highest, next;
  std::memcpy(&highest, values, sizeof highest);
  for (int64_t i = 8; i < kRun; i += 8) {
    std::memcpy(&next, values + i, sizeof next);
    highest = next > highest ? next : highest;
  }
  double result = highest[0];
  for (int i = 1; i < 8; ++i)
    result = std::max(result, highest[i]);
  return result;
}

} // namespace

template <typename Score>
std::vector<BeamSearch::Candidate> BeamSearch::best(const double *rows, int64_t count, Score score) const {
  auto isBetter = [](const Candidate &a, const Candidate &b) {
    return a.score != b.score ? a.score > b.score : a.beam != b.beam ? a.beam < b.beam : a.symbol < b.symbol;
  };
  std::vector<Candidate> found; // a heap whose front is the worst
  auto offer = [&](int32_t from, int32_t id, double value) {
    const bool isFull = static_cast<int64_t>(found.size()) == count;
    if (isFull && !(value > found.front().score)) // an equal one comes later
      return;
    if (isFull) {
      std::pop_heap(found.begin(), found.end(), isBetter);
      found.pop_back();
    }
    found.push_back({value, from, id});
    std::push_heap(found.begin(), found.end(), isBetter);
  };
  for (int32_t from = 0; from < beam.size; ++from) {
    const double *row = rows + from * problem.symbols;
    for (int64_t first = 0; first < problem.symbols; first += kRun) {
      const int64_t end = std::min(first + kRun, problem.symbols);
      // A score grows with the log probability, so that of the highest bounds those of its run.
      if (static_cast<int64_t>(found.size()) == count && end - first == kRun &&
          !(score(from, highestOfRun(row + first)) > found.front().score))
        continue;
      for (int64_t id = first; id < end; ++id)
        offer(from, static_cast<int32_t>(id), score(from, row[id]));
    }
  }
  std::sort(found.begin(), found.end(), isBetter);
  return found;
}

void BeamSearch::set(int64_t text, int64_t beamOfText, const Candidate &candidate, double logProbability) {
  const size_t to = at(text, beamOfText);
  parent[to] = candidate.beam;
  symbol[to] = candidate.symbol;
  sum[to] = logProbability;
  node[to] = sequences.add(previousNodes[at(text, candidate.beam)], candidate.symbol);
}

Hypothesis BeamSearch::hypothesis(int32_t at, double score, bool ended) const {
  Hypothesis made{sequences.upTo(at), score, ended};
  if (auto stop = std::find(made.symbols.begin(), made.symbols.end(), problem.stop); stop != made.symbols.end())
    made.symbols.erase(stop, made.symbols.end());
  return made;
}

void BeamSearch::advance(std::vector<double> &logProbabilities) {
  if (beam.noRepeat > 0)
    forbidRepeating(logProbabilities);
  previousNodes = node;
  for (int64_t text = 0; text < problem.texts; ++text)
    choose(text, logProbabilities.data() + static_cast<size_t>(text * beam.size * problem.symbols));
  ++made;
  stepDone();
}

/// Symbols that would make a sequence of noRepeat symbols that was there before; not of those with an exempt one (UniLM's
/// forbid_ignore_word).
void BeamSearch::forbidRepeating(std::vector<double> &logProbabilities) const {
  const auto length = static_cast<size_t>(beam.noRepeat);
  auto isExempt = [&](int32_t id) { return std::find(beam.except.begin(), beam.except.end(), id) != beam.except.end(); };
  for (size_t each = 0; each < node.size(); ++each) {
    std::vector<int32_t> seen = sequences.upTo(node[each]);
    if (countsPrompt()) {
      const auto &prompt = problem.prompts[each / static_cast<size_t>(beam.size)];
      seen.insert(seen.begin(), prompt.begin(), prompt.end());
    }
    if (seen.size() < length || std::any_of(seen.end() - static_cast<std::ptrdiff_t>(length - 1), seen.end(), isExempt))
      continue;
    std::vector<bool> isForbidden(static_cast<size_t>(problem.symbols));
    for (size_t first = 0; first + length <= seen.size(); ++first)
      if (std::equal(seen.end() - static_cast<std::ptrdiff_t>(length - 1), seen.end(),
                     seen.begin() + static_cast<std::ptrdiff_t>(first)))
        isForbidden[static_cast<size_t>(seen[first + length - 1])] = !isExempt(seen[first + length - 1]);
    for (size_t id = 0; id < isForbidden.size(); ++id)
      if (isForbidden[id])
        logProbabilities[each * isForbidden.size() + id] += penaltyOfRepeating();
  }
}

namespace {

/// Of a few; std::stable_sort allocates a buffer.
template <typename Each, typename Before> void sortStably(std::vector<Each> &list, Before before) {
  for (auto each = list.begin(); each != list.end(); ++each)
    std::rotate(std::upper_bound(list.begin(), each, *each, before), each, std::next(each));
}

/// 2 K candidates of K * V; the best K that go on stay alive, those that end compete with K finished ones. Over when no alive one
/// can come to be better than the best finished one of its text, in all texts.
class T2t : public BeamSearch {
public:
  T2t(const Beam &beam, BeamProblem problem) : BeamSearch(beam, std::move(problem)) {
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = i % static_cast<size_t>(beam.size) == 0 ? 0 : -kInfinite;
    finished.assign(sum.size(), {-kInfinite, -1, false});
  }
  bool isOver() const override { return made >= problem.limit || isBounded; }

  std::vector<Hypothesis> hypotheses(int64_t text) const override {
    std::vector<Hypothesis> made;
    for (int64_t k = 0; k < beam.size; ++k)
      if (const Finished &each = finished[at(text, k)]; each.isThere)
        made.push_back(hypothesis(each.node, each.score, true));
    for (int64_t k = 0; k < beam.size && (made.empty() || !made[0].ended); ++k)
      made.push_back(hypothesis(node[at(text, k)], sum[at(text, k)], false));
    return made;
  }

private:
  static constexpr double kInfinite = 1e7;
  struct Finished {
    double score;
    int32_t node;
    bool isThere;
  };
  std::vector<Finished> finished; // per beam, best first
  bool isBounded = false;

  double penalty(int64_t length) const { return std::pow((5.0 + static_cast<double>(length)) / 6.0, beam.alpha); }

  void choose(int64_t text, const double *rows) override {
    const double divisor = penalty(made + 1);
    std::vector<double> sums(sum.begin() + static_cast<std::ptrdiff_t>(at(text, 0)),
                             sum.begin() + static_cast<std::ptrdiff_t>(at(text, beam.size)));
    const std::vector<Candidate> candidates = best(rows, 2 * beam.size, [&](int32_t from, double logProbability) {
      return (sums[static_cast<size_t>(from)] + logProbability) / divisor;
    });
    std::vector<Finished> all(finished.begin() + static_cast<std::ptrdiff_t>(at(text, 0)),
                              finished.begin() + static_cast<std::ptrdiff_t>(at(text, beam.size)));
    int64_t alive = 0;
    for (const Candidate &each : candidates)
      if (each.symbol == problem.stop)
        all.push_back({each.score, sequences.add(previousNodes[at(text, each.beam)], each.symbol), true});
      else if (alive < beam.size) // at most K of the 2 K end: a beam has one stop symbol
        set(text, alive++, each, each.score * divisor);
    sortStably(all, [](const Finished &a, const Finished &b) { return a.score > b.score; });
    std::copy_n(all.begin(), beam.size, finished.begin() + static_cast<std::ptrdiff_t>(at(text, 0)));
  }

  void stepDone() override {
    isBounded = true;
    for (int64_t text = 0; text < problem.texts; ++text)
      isBounded &= finished[at(text, 0)].score > sum[at(text, 0)] / penalty(problem.limit);
  }
};

/// 2 K candidates; one that ends is kept if it is among the first K of them, with its sum / length ^ alpha, where the length
/// counts what a text began with and not the stop symbol; the first K others go on. A text is done when it has K that are better
/// than what the best candidate has now.
class Hf : public BeamSearch {
public:
  Hf(const Beam &beam, BeamProblem problem)
      : BeamSearch(beam, std::move(problem)), kept(static_cast<size_t>(this->problem.texts)), isDone(kept.size()) {
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = i % static_cast<size_t>(beam.size) == 0 ? 0 : -1e9;
  }
  bool isOver() const override {
    return made >= problem.limit || std::all_of(isDone.begin(), isDone.end(), [](bool done) { return done; });
  }

  std::vector<Hypothesis> hypotheses(int64_t text) const override {
    Heap heap = kept[static_cast<size_t>(text)];
    if (!isDone[static_cast<size_t>(text)])
      for (int64_t k = 0; k < beam.size; ++k)
        add(heap, {sum[at(text, k)] / penalty(text), node[at(text, k)], false});
    sortStably(heap, [](const Kept &a, const Kept &b) { return a.score < b.score; });
    std::vector<Hypothesis> made;
    for (auto each = heap.rbegin(); each != heap.rend(); ++each) // of equal ones the last, as the scorer pops them
      made.push_back(hypothesis(each->node, each->score, each->ended));
    return made;
  }

private:
  struct Kept {
    double score;
    int32_t node;
    bool ended;
  };
  using Heap = std::vector<Kept>;
  std::vector<Heap> kept;   // per text, in the order in which they came
  std::vector<bool> isDone; // per text

  bool countsPrompt() const override { return true; }
  /// Of the sequences as they are before the symbol of this step.
  double penalty(int64_t text) const {
    const auto prompt = static_cast<int64_t>(problem.prompts[static_cast<size_t>(text)].size());
    return std::pow(static_cast<double>(prompt + made), beam.alpha);
  }
  static double worst(const Heap &heap) {
    return std::min_element(heap.begin(), heap.end(), [](const Kept &a, const Kept &b) { return a.score < b.score; })->score;
  }
  void add(Heap &heap, Kept each) const {
    if (static_cast<int64_t>(heap.size()) >= beam.size && !(each.score > worst(heap)))
      return;
    heap.push_back(each);
    if (static_cast<int64_t>(heap.size()) > beam.size)
      heap.erase(std::min_element(heap.begin(), heap.end(), [](const Kept &a, const Kept &b) { return a.score < b.score; }));
  }

  void choose(int64_t text, const double *rows) override {
    if (isDone[static_cast<size_t>(text)]) { // whatever it goes on with is not read
      for (int64_t k = 0; k < beam.size; ++k)
        parent[at(text, k)] = static_cast<int32_t>(k), symbol[at(text, k)] = problem.stop;
      return;
    }
    std::vector<double> sums(sum.begin() + static_cast<std::ptrdiff_t>(at(text, 0)),
                             sum.begin() + static_cast<std::ptrdiff_t>(at(text, beam.size)));
    const std::vector<Candidate> candidates = best(rows, 2 * beam.size, [&](int32_t from, double logProbability) {
      return sums[static_cast<size_t>(from)] + logProbability;
    });
    Heap &heap = kept[static_cast<size_t>(text)];
    int64_t running = 0;
    for (size_t rank = 0; rank < candidates.size() && running < beam.size; ++rank) {
      const Candidate &each = candidates[rank];
      if (each.symbol != problem.stop)
        set(text, running++, each, each.score);
      else if (static_cast<int64_t>(rank) < beam.size)
        add(heap, {each.score / penalty(text), previousNodes[at(text, each.beam)], true});
    }
    if (static_cast<int64_t>(heap.size()) >= beam.size)
      isDone[static_cast<size_t>(text)] = worst(heap) >= candidates[0].score / penalty(text);
  }
};

/// The K best of each beam, the K best of these; a beam that has ended goes on at -10000. At the end all that ended, and the last
/// frame, compete; frames behind one in which all beams ended do not count.
class UniLm : public BeamSearch {
public:
  UniLm(const Beam &beam, BeamProblem problem)
      : BeamSearch(beam, std::move(problem)), lastFrame(static_cast<size_t>(this->problem.texts), -1) {}
  bool isOver() const override {
    return made >= problem.limit || std::all_of(lastFrame.begin(), lastFrame.end(), [](int64_t frame) { return frame >= 0; });
  }

  std::vector<Hypothesis> hypotheses(int64_t text) const override {
    const int64_t first = lastFrame[static_cast<size_t>(text)];
    const int64_t last = first >= 0 ? first : static_cast<int64_t>(frames.size()) - 1;
    double highest = -std::numeric_limits<double>::infinity();
    const Place *found = nullptr;
    for (int64_t frame = 0; frame <= last; ++frame)
      for (int64_t k = 0; k < beam.size; ++k) {
        const Place &place = frames[static_cast<size_t>(frame)][at(text, k)];
        if (place.symbol != problem.stop && frame != last)
          continue;
        double score = place.sum;
        if (beam.alpha > 0)
          score /= std::pow((5.0 + static_cast<double>(frame) + 1.0) / 6.0, beam.alpha);
        if (score > highest)
          highest = score, found = &place;
      }
    return found ? std::vector<Hypothesis>{hypothesis(found->node, highest, found->symbol == problem.stop)}
                 : std::vector<Hypothesis>{Hypothesis{}};
  }

private:
  static constexpr double kForbidden = -10000;
  struct Place {
    double sum;
    int32_t node, symbol;
  };
  std::vector<std::vector<Place>> frames; // per symbol made: the beams
  std::vector<int64_t> lastFrame;         // per text: the first in which all beams ended; -1: none yet

  double penaltyOfRepeating() const override { return kForbidden; }

  /// The K best symbols of one row, best first, of equal ones the smallest.
  std::vector<int32_t> bestOfRow(const double *row) const {
    std::vector<int32_t> ids(static_cast<size_t>(problem.symbols));
    for (size_t id = 0; id < ids.size(); ++id)
      ids[id] = static_cast<int32_t>(id);
    auto isBetter = [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; };
    std::partial_sort(ids.begin(), ids.begin() + beam.size, ids.end(), isBetter);
    ids.resize(static_cast<size_t>(beam.size));
    return ids;
  }

  void choose(int64_t text, const double *rows) override {
    std::vector<Candidate> candidates;
    for (int32_t from = 0; from < (made == 0 ? 1 : beam.size); ++from) { // all beams are one at first
      const double *row = rows + from * problem.symbols;
      const size_t before = at(text, from);
      const double more = made == 0 ? 0 : sum[before] + (symbol[before] == problem.stop ? kForbidden : 0);
      for (int32_t id : bestOfRow(row))
        candidates.push_back({row[id] + more, from, id});
    }
    sortStably(candidates, [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
    for (int64_t k = 0; k < beam.size; ++k)
      set(text, k, candidates[static_cast<size_t>(k)], candidates[static_cast<size_t>(k)].score);
  }

  void stepDone() override {
    auto &frame = frames.emplace_back();
    for (size_t i = 0; i < sum.size(); ++i)
      frame.push_back({sum[i], node[i], symbol[i]});
    for (int64_t text = 0; text < problem.texts; ++text) {
      bool allEnded = true;
      for (int64_t k = 0; k < beam.size; ++k)
        allEnded &= symbol[at(text, k)] == problem.stop;
      if (allEnded && lastFrame[static_cast<size_t>(text)] < 0)
        lastFrame[static_cast<size_t>(text)] = made - 1;
    }
  }
};

} // namespace

std::unique_ptr<BeamSearch> BeamSearch::create(const Beam &beam, BeamProblem problem) {
  switch (beam.rule) {
  case BeamRule::T2t:
    return std::make_unique<T2t>(beam, std::move(problem));
  case BeamRule::Hf:
    return std::make_unique<Hf>(beam, std::move(problem));
  case BeamRule::UniLm:
    return std::make_unique<UniLm>(beam, std::move(problem));
  }
  return nullptr;
}

} // namespace tenon::generate
