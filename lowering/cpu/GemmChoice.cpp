#include "lowering/cpu/GemmChoice.h"
#include "dialect/Packs.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {

GemmPanels panelsOfB(GemmOp op, const GemmAxes &axes) {
  std::optional<Panels> panels = Panels::of(op);
  if (!panels)
    return {};
  const bool linesAreSteps = llvm::is_contained(axes.depth, axes.b.labels.front()) != panels->transposed;
  const int64_t lines = packedPanels(op.getB()) ? roomForLines(*panels, op.typeOfB().getShape()) : 0;
  return {panels->width, panels->steps, !linesAreSteps, lines};
}

namespace {

constexpr llvm::StringLiteral kStrips = "strips", kTiles = "tiles", kStreams = "streams", kBySize = "by_size";

struct GemmFacts {
  GemmFacts(GemmOp op, const GemmAxes &axes, Tier tier) {
    auto size = [&](const Labels &labels) {
      SmallVector<AffineExpr> factors;
      for (int64_t label : labels)
        factors.push_back(axes.sizes.lookup(label));
      return known(product(factors, op.getContext()));
    };
    m = size(axes.rows), n = size(axes.columns), k = size(axes.depth);
    isBatched = !axes.batch.empty();
    isReordered = axes.isReordered;
    batch = size(axes.batch);
    auto stride = [&](const GemmSide &side, const Labels &labels) {
      return known((side.ranges.empty() ? side : side.ranges.front()).strideOf(labels, axes.sizes));
    };
    access = {tier,
              axes.a.type.getElementType(),
              stride(axes.a, axes.rows),
              stride(axes.a, axes.depth),
              stride(axes.b, axes.depth),
              stride(axes.b, axes.columns),
              axes.computesA(),
              axes.computesB(),
              axes.hasRowsInRanges,
              axes.hasStepsInRanges,
              panelsOfB(op, axes),
              !axes.keptRuns().empty()};
    access.stagesLeft = access.linesShareSet();
  }
  static std::optional<int64_t> known(AffineExpr size) {
    auto number = dyn_cast<AffineConstantExpr>(size);
    return number ? std::optional(number.getValue()) : std::nullopt;
  }
  bool areSizesKnown() const { return m && n && k && batch; }
  bool hasTiles() const { return multipliesTiles(access.tier, access.storage); }
  bool mustBeTiles() const { return hasTiles() && m && *m >= kFewestRows; }
  bool mayStream() const { return m && *m <= kFewRows && access.mayStreamRight(); }
  bool isWhole() const { return m && *m <= kFewRows && access.mayBeWhole(); }
  bool mayBeStaged() const { return access.mayStageLeft() && !isWhole(); } // scratch has no room for all of K

  std::optional<int64_t> m, n, k, batch;
  bool isBatched = false, isReordered = false;
  GemmAccess access;
};

/// Of a tile of the kernel that puts A in order, which moves short pieces.
constexpr int64_t kOrderedElements = 40000;

/// What every form has that computes its sums in register tiles, or has A put in order in front.
SmallVector<ChoiceNumber> furtherNumbers(const GemmFacts &facts, bool multiplies) {
  SmallVector<ChoiceNumber> all;
  if (multiplies && !facts.hasTiles())
    all.push_back({"strip", 1, microTile(facts.access.tier).rows});
  if (multiplies && facts.mayBeStaged())
    all.push_back({"staged", 0, 1});
  if (facts.isReordered)
    all.push_back({"order", 1, kAnyNumber});
  return all;
}
void chooseFurther(const GemmFacts &facts, bool multiplies, SmallVectorImpl<std::pair<StringRef, int64_t>> &chosen) {
  for (const ChoiceNumber &number : furtherNumbers(facts, multiplies))
    chosen.push_back({number.name, number.name == "order"    ? kOrderedElements
                                   : number.name == "staged" ? int64_t(facts.access.stagesLeft)
                                                             : number.most});
}

/// What the rule for sizes of a run asks besides, of operands that it may be asked for.
SmallVector<ChoiceNumber> numbersOfRule(const GemmFacts &facts, const GemmLimits &limits) {
  SmallVector<ChoiceNumber> all;
  const bool copiesLeft = !facts.access.computesA && !facts.hasTiles();
  if (copiesLeft && (facts.mayBeStaged() || !facts.access.readsLeftInPlace()))
    all.push_back({"staged_panels", 1, limits.panels});
  if (facts.isBatched)
    all.push_back({"many_entries", 1, kAnyNumber});
  return all;
}

/// All that the op may be given.
SmallVector<ChoiceForm> formsOf(const GemmFacts &facts) {
  const GemmLimits limits = gemmLimits(facts.access.tier, facts.access.storage);
  const int64_t steps = stepsOfBlocks(facts.access.tier, facts.access.storage);
  const int64_t deepest =
      facts.isWhole() && facts.k ? std::max(limits.whole, KnownNumbers::roundUp(*facts.k, steps)) : limits.whole;
  auto numbers = [&](int64_t panels, bool streams) {
    SmallVector<ChoiceNumber> all;
    if (!streams)
      all = {{"rows", 1, limits.rows}, {"depth", steps, deepest, steps}};
    all.push_back({"panels", 1, panels});
    if (facts.isBatched)
      all.push_back({"entries", 1, std::max<int64_t>(facts.batch.value_or(1), 1)});
    all.append(furtherNumbers(facts, !streams));
    return all;
  };
  SmallVector<ChoiceForm> forms;
  if (facts.areSizesKnown() && facts.mustBeTiles()) {
    forms.push_back({kTiles, numbers(limits.panels, false)});
    if (*facts.m > limits.rows || *facts.m % kStripRows == 0) // only the last strip may be short
      forms.back().numbers[0] = {"rows", kStripRows, limits.rows, kStripRows};
    else
      forms.back().numbers[0] = {"rows", *facts.m, *facts.m};
  } else if (facts.areSizesKnown()) {
    forms.push_back({kStrips, numbers(limits.panels, false)});
  }
  if (facts.areSizesKnown() && facts.mayStream())
    forms.push_back({kStreams, numbers(streamedPanels(facts.access.tier), true)});
  forms.push_back({kBySize,
                   {{"rows", 1, limits.rows},
                    {"whole", steps, limits.whole, steps},
                    {"depth", steps, limits.whole, steps},
                    {"panels", 1, limits.panels},
                    {"split", 1, kAnyNumber},
                    {"work", 1, kAnyNumber}}});
  forms.back().numbers.append(numbersOfRule(facts, limits));
  forms.back().numbers.append(furtherNumbers(facts, true));
  return forms;
}

} // namespace

DictionaryAttr chooseGemm(Operation *op, Tier tier) {
  auto gemm = cast<GemmOp>(op);
  const GemmAxes axes(gemm);
  const GemmFacts facts(gemm, axes, tier);
  const GemmLimits limits = gemmLimits(tier, facts.access.storage);
  SmallVector<std::pair<StringRef, int64_t>> chosen;
  if (!facts.areSizesKnown()) {
    chosen = {{"rows", limits.rows},     {"whole", limits.whole}, {"depth", limits.depth},
              {"panels", limits.panels}, {"split", limits.split}, {"work", limits.work}};
    for (const ChoiceNumber &number : numbersOfRule(facts, limits))
      chosen.push_back({number.name, number.name == "many_entries" ? limits.many : limits.staged});
    chooseFurther(facts, true, chosen);
    return makeChoice(op->getContext(), kBySize, chosen);
  }
  KnownNumbers numbers;
  const int64_t m = *facts.m, n = *facts.n, k = *facts.k;
  const int64_t least = leastPanelsOf(numbers, limits, *facts.batch);
  const GemmCut<KnownNumbers> cut(numbers, facts.access, limits, m, n, k, facts.isBatched ? &least : nullptr);
  if (!cut.streamsRight)
    chosen = {{"rows", std::max<int64_t>(cut.rowsPerBlock, 1)},
              {"depth", std::max(cut.depthPerBlock, stepsOfBlocks(tier, facts.access.storage))}};
  chosen.push_back({"panels", cut.panelsPerBlock});
  if (facts.isBatched)
    chosen.push_back({"entries", entriesPerTile(numbers, limits, std::max<int64_t>(m * n * k, 1), *facts.batch, cut.tiles)});
  chooseFurther(facts, !cut.streamsRight, chosen);
  return makeChoice(op->getContext(), cut.streamsRight ? kStreams : cut.multipliesTiles ? kTiles : kStrips, chosen);
}

FailureOr<GemmChoice> gemmChoiceOf(GemmOp op, const GemmAxes &axes, Tier tier) {
  using Form = GemmChoice::Form;
  FailureOr<Choice> read = choiceForTier(op, tier, formsOf(GemmFacts(op, axes, tier)));
  if (failed(read))
    return failure();
  auto number = [&](StringRef name) { return read->number(name).value_or(0); };
  GemmChoice choice;
  const StringRef form = read->form();
  choice.form = form == kStrips ? Form::Strips : form == kTiles ? Form::Tiles : form == kStreams ? Form::Streams : Form::BySize;
  // What a rule is not asked for decides nothing: no row of A is copied, or there is one entry, too few for all threads.
  const GemmLimits usual = gemmLimits(tier, axes.a.type.getElementType());
  if (choice.form == Form::BySize)
    choice.limits = {number("rows"),
                     number("whole"),
                     number("depth"),
                     number("panels"),
                     number("split"),
                     number("work"),
                     read->number("staged_panels").value_or(usual.staged),
                     read->number("many_entries").value_or(usual.many)};
  else
    choice = {choice.form, number("rows"), number("depth"), number("panels"), std::max<int64_t>(number("entries"), 1)};
  choice.strip = number("strip");
  choice.order = number("order");
  choice.staged = number("staged") != 0;
  return choice;
}

SmallVector<CutSide> gemmSides(GemmOp op, const GemmAxes &axes, Tier tier, const GemmChoice &choice) {
  auto size = [&](const Labels &labels) {
    return product(llvm::map_to_vector(labels, [&](int64_t label) { return axes.sizes.lookup(label); }), op.getContext());
  };
  const bool bySize = choice.form == GemmChoice::Form::BySize, streams = choice.form == GemmChoice::Form::Streams;
  const int64_t all = std::numeric_limits<int64_t>::max();
  return {{size(axes.batch), bySize ? 0 : choice.entries},
          {size(axes.rows), bySize    ? 0
                            : streams ? all
                                      : choice.rows},
          {size(axes.columns), bySize ? 0 : choice.panels * panelWidth(tier, axes.a.type.getElementType())}};
}

} // namespace tenon::cpu
