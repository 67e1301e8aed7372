#include "lowering/gpu/TensorAttentionGradient.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/TensorAttention.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numbers>

using namespace mlir;

namespace tenon::gpu {
namespace {

constexpr int64_t kStatistics = 2; // of a query, f32: see keepStatistics

/// The results of one kernel: sums of gradients of scores and of probabilities; null: none.
struct Part {
  StringRef name;
  bool ofKeys;
  Value byScores, byWeights;
};

class TensorGradient {
public:
  TensorGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, GradientTile tile, const Part &part)
      : op(op), code(code), builder(code.builder), operands(operands), tile(tile), ofKeys(part.ofKeys), on(code, operands),
        group(ofKeys ? operands.heads() / operands.keyHeads() : 1), f32(builder.getF32Type()), kept(code.temporary(0)),
        byScores(part.byScores), byWeights(part.byWeights) {}

  void emit();

private:
  using Numbers = AttentionFragments::Numbers;
  using Fragments = AttentionFragments::Fragments;
  /// A tile that the block meets: its head of queries and first row, and the number of its stage.
  struct Met {
    Value head, first, stage;
  };
  int64_t widthOf(int which) const { return which == 0 ? operands.keyWidth() : operands.valueWidth(); }
  TileRows rowsOf(int which) const { return {tile.side, widthOf(which)}; }
  /// What has a row for each query or for each key: 0 is multiplied to scores, 1 to the gradients of probabilities.
  Value tensorOf(bool isKey, int which) {
    return which == 0 ? (isKey ? operands.key : operands.query) : isKey ? operands.value : Value(op.getDy());
  }
  Value at(Value base, Type type, int64_t elements) { return elementAddress(builder, base, type, on.number(elements)); }
  Value at(Value base, Type type, Value index, int64_t elements) {
    return elementAddress(builder, base, type, tenon::multiply(builder, index, on.number(elements)));
  }
  void bring(bool isKey, int which, Value memory, int64_t count, Value first);
  Value numberOfQuery(Value query);
  Value countOfQueries() { return tenon::multiply(builder, code.size(operands.batches() * operands.heads()), on.queries); }
  void bringOwn();
  void keepStatistics(Value memory);
  void readStatistics();
  Met metAt(Value round);
  Value stageOf(const Met &met);
  void issue(const Met &met);
  void issueStatistics(const Met &met);
  Numbers overTiles(Value rounds);
  void emitColumns(const Met &met, int64_t column, Numbers &scoreSums, Numbers &weightSums);
  void weigh(const Met &met, const WarpPairs &pairs, int64_t column, Numbers &scores, Numbers &along);
  std::pair<Value, Value> statisticsOf(const Met &met, int64_t column, size_t index);
  void store(Value result, int64_t width, ArrayRef<Value> sums, double factor);

  AttentionGradOp op;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const GradientTile tile;
  const bool ofKeys;
  AttentionFragments on;
  const int64_t group; // heads of queries that a block goes through
  const Type f32;
  const Value kept; // of the kernel of queries for that of keys: [kStatistics, B, H, I]
  const Value byScores, byWeights;
  Fragments fragments[2];
  Value firstOwn, firstLine, ring, statistics; // statistics: of the block's queries, or those of each stage
  Value ownLargest[2], ownMean[2];             // of the lane's two rows
  LineLimits limits;
  IndexRange range;
  Value tiles; // in the range
};

void TensorGradient::emit() {
  Value lines = ofKeys ? on.keys : on.queries, rows = on.number(tile.kRows);
  Value number =
      on.enter(ofKeys ? operands.keyHeads() : operands.heads(), ceilDivide(builder, lines, rows), ofKeys ? on.keyHead : on.head);
  if (ofKeys)
    on.head = tenon::multiply(builder, on.keyHead, on.number(group));
  else
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
  firstOwn = tenon::multiply(builder, number, rows);
  firstLine = add(builder, firstOwn, tenon::multiply(builder, on.warp, on.number(16)));
  int64_t elements = 0;
  for (int which : {0, 1})
    elements += std::max(tile.kStages * tile.side, tile.kRows) / tile.side * rowsOf(which).elements();
  ring = code.shared(on.stored, elements);
  statistics = code.shared(f32, kStatistics * (ofKeys ? tile.kStages * tile.side : tile.kRows));
  bringOwn();
  if (!byScores && !byWeights) // nobody reads the gradient of queries
    return;
  limits = on.limitsOf({firstLine, {}, !ofKeys, 0});
  Value last = minimum(builder, add(builder, firstOwn, rows), lines);
  range = on.seen(!ofKeys, firstOwn, subtract(builder, last, on.number(1)), tile.side);
  Value length = maximum(builder, subtract(builder, range.high, range.low), on.number(0));
  tiles = ceilDivide(builder, length, on.number(tile.side));
  Numbers sums = overTiles(tenon::multiply(builder, tiles, on.number(group)));
  const size_t ofScores = byScores ? size_t(widthOf(0) / 2) : 0;
  store(byScores, widthOf(0), ArrayRef(sums).take_front(ofScores), operands.scale);
  store(byWeights, widthOf(1), ArrayRef(sums).drop_front(ofScores), 65536.0 / double(65536 - operands.threshold()));
}

/// Starts to bring rows of queries or keys.
void TensorGradient::bring(bool isKey, int which, Value memory, int64_t count, Value first) {
  const TileRows rows(count, widthOf(which));
  if (isKey)
    on.bringKeys(memory, rows, tensorOf(isKey, which), first);
  else
    on.bringQueries(memory, rows, tensorOf(isKey, which), first);
}

/// Among the statistics.
Value TensorGradient::numberOfQuery(Value query) {
  Value head = add(builder, tenon::multiply(builder, on.batch, on.number(operands.heads())), on.head);
  return add(builder, tenon::multiply(builder, head, on.queries), query);
}

/// The rows of the warp become fragments for good; until then they lie where the ring is.
void TensorGradient::bringOwn() {
  Value memory[2] = {ring, at(ring, on.stored, TileRows(tile.kRows, widthOf(0)).elements())};
  for (int which : {0, 1})
    bring(ofKeys, which, memory[which], tile.kRows, firstOwn);
  commitCopies(builder);
  waitForCopies(builder, 0);
  code.barrier();
  Value line = tenon::multiply(builder, on.warp, on.number(16));
  for (int which : {0, 1})
    if (which == 0 || byScores)
      fragments[which] = on.linesOf(memory[which], TileRows(tile.kRows, widthOf(which)), line);
  if (!ofKeys)
    keepStatistics(memory[1]);
  code.barrier(); // before the first tile comes
  if (!ofKeys)
    readStatistics();
}

/// Of each query: what its score, times log2 e, exceeds when its probability is 1, and D = dy . y. Two threads share a row, whose
/// dy lies at `memory`.
void TensorGradient::keepStatistics(Value memory) {
  const TileRows dy(tile.kRows, widthOf(1));
  Value row = divide(builder, code.thread(), on.number(2)), half = remainder(builder, code.thread(), on.number(2));
  Value query = add(builder, firstOwn, row), inside = on.within(query, on.queries);
  Value offset = on.offsetOfQuery(inside, dy.width), sum = on.real(0);
  auto eight = VectorType::get({SharedTile::kChunk}, on.stored);
  for (int64_t chunk = 0; chunk < dy.width / SharedTile::kChunk; chunk += 2) {
    Value own = add(builder, half, on.number(chunk));
    auto load = [&](Value base, Value index) -> Value {
      return LLVM::LoadOp::create(builder, eight, elementAddress(builder, base, on.stored, index), 16);
    };
    Value a = load(memory, dy.tile.place(builder, row, own));
    Value b = load(code.pointer(op.getY()), add(builder, offset, tenon::multiply(builder, own, on.number(SharedTile::kChunk))));
    auto element = [&](Value of, int64_t i) -> Value {
      Value one = LLVM::ExtractElementOp::create(builder, of, on.number(i));
      return arith::ExtFOp::create(builder, f32, one);
    };
    for (int64_t i = 0; i < SharedTile::kChunk; ++i)
      sum = math::FmaOp::create(builder, element(a, i), element(b, i), sum);
  }
  sum = on.across(Reduction::sum, sum, 2);
  Value most = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowMax(), inside));
  Value inverse = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowSumInverse(), inside));
  Value scaled = arith::MulFOp::create(builder, most, on.real(std::numbers::log2e));
  Value logarithm =
      LLVM::CallIntrinsicOp::create(builder, f32, builder.getStringAttr("llvm.nvvm.lg2.approx.f"), ValueRange{inverse})
          .getResult(0);
  Value largest = arith::SubFOp::create(builder, scaled, logarithm); // inf for a row that saw no key
  auto put = [&](Value base, Value index, Value value) {
    LLVM::StoreOp::create(builder, value, elementAddress(builder, base, f32, index), 4);
  };
  code.ifThen(on.less(half, on.number(1)), [&] {
    put(statistics, row, largest);
    put(statistics, add(builder, row, on.number(tile.kRows)), sum);
    code.ifThen(on.less(query, on.queries), [&] {
      put(kept, numberOfQuery(query), largest);
      put(kept, add(builder, numberOfQuery(query), countOfQueries()), sum);
    });
  });
}

void TensorGradient::readStatistics() {
  Value line = add(builder, tenon::multiply(builder, on.warp, on.number(16)), divide(builder, on.lane, on.number(4)));
  Value address = elementAddress(builder, statistics, f32, line);
  for (int half : {0, 1}) {
    ownLargest[half] = LLVM::LoadOp::create(builder, f32, at(address, f32, 8 * half));
    ownMean[half] = LLVM::LoadOp::create(builder, f32, at(address, f32, 8 * half + tile.kRows));
  }
}

TensorGradient::Met TensorGradient::metAt(Value round) {
  Value head = on.head, number = round;
  if (ofKeys)
    head = tenon::multiply(builder, on.keyHead, on.number(group));
  if (group > 1) {
    head = add(builder, head, divide(builder, round, tiles));
    number = remainder(builder, round, tiles);
  }
  return {head, add(builder, range.low, tenon::multiply(builder, number, on.number(tile.side))),
          remainder(builder, round, on.number(tile.kStages))};
}

Value TensorGradient::stageOf(const Met &met) {
  return at(ring, on.stored, met.stage, rowsOf(0).elements() + rowsOf(1).elements());
}

/// Starts to bring a tile into its stage.
void TensorGradient::issue(const Met &met) {
  on.head = met.head;
  Value stage = stageOf(met);
  bring(!ofKeys, 0, stage, tile.side, met.first);
  bring(!ofKeys, 1, at(stage, on.stored, rowsOf(0).elements()), tile.side, met.first);
  if (!ofKeys)
    return;
  const int64_t count = kStatistics * tile.side;
  if (count == code.threads)
    issueStatistics(met);
  else
    code.ifThen(on.less(code.thread(), on.number(count)), [&] { issueStatistics(met); });
}

void TensorGradient::issueStatistics(const Met &met) {
  Value which = divide(builder, code.thread(), on.number(tile.side)),
        row = remainder(builder, code.thread(), on.number(tile.side));
  Value query = add(builder, met.first, row), inside = on.less(query, on.queries);
  Value from = add(builder, numberOfQuery(query), tenon::multiply(builder, which, countOfQueries()));
  Value to = elementAddress(builder, at(statistics, f32, met.stage, kStatistics * tile.side), f32, code.thread());
  copyAsync(builder, to, elementAddress(builder, kept, f32, on.select(inside, from, on.number(0))), 4, inside);
}

/// A stage is filled while the one before it is multiplied.
TensorGradient::Numbers TensorGradient::overTiles(Value rounds) {
  Value none = on.number(0), one = on.number(1);
  const size_t ofScores = byScores ? size_t(widthOf(0) / 2) : 0, ofWeights = byWeights ? size_t(widthOf(1) / 2) : 0;
  code.ifThen(on.less(none, rounds), [&] { issue(metAt(none)); });
  commitCopies(builder);
  auto loop = scf::ForOp::create(builder, none, rounds, one, on.zeros(int64_t(ofScores + ofWeights)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  waitForCopies(builder, 0);
  code.barrier(); // this stage is there, and the other one was read
  Value next = add(builder, loop.getInductionVar(), one);
  code.ifThen(on.less(next, rounds), [&] { issue(metAt(next)); });
  commitCopies(builder);
  const Met met = metAt(loop.getInductionVar());
  on.head = met.head;
  auto before = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  Numbers scoreSums(ArrayRef(before).take_front(ofScores)), weightSums(ArrayRef(before).drop_front(ofScores));
  for (int64_t column = 0; column < tile.side; column += tile.columns)
    emitColumns(met, column, scoreSums, weightSums);
  llvm::append_range(scoreSums, weightSums);
  scf::YieldOp::create(builder, scoreSums);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void TensorGradient::emitColumns(const Met &met, int64_t column, Numbers &scoreSums, Numbers &weightSums) {
  Value memory[2] = {stageOf(met), at(stageOf(met), on.stored, rowsOf(0).elements())};
  const WarpPairs pairs{firstLine, add(builder, met.first, on.number(column)), !ofKeys, tile.columns / 8};
  Numbers products[2]; // scores; dy . v
  for (int which : {0, 1}) {
    products[which] = on.zeros(4 * pairs.blocks);
    if (which == 0 || byScores)
      on.multiplyTransposed(products[which], ArrayRef<Fragments>(fragments[which]), memory[which], rowsOf(which),
                            on.number(column));
  }
  weigh(met, pairs, column, products[0], products[1]);
  auto accumulate = [&](Numbers &sums, ArrayRef<Value> numbers, int which) {
    if (sums.empty())
      return;
    const TileRows rows(tile.columns, widthOf(which)); // those of the columns
    const Fragments lines = on.rounded(numbers);
    on.multiply(sums, lines, at(memory[which], on.stored, column * rows.tile.chunks * SharedTile::kChunk), rows);
  };
  accumulate(scoreSums, products[1], 0);
  accumulate(weightSums, products[0], 1);
}

/// Scores become probabilities behind dropout, without its factor, and dy . v gradients of scores without the scale.
void TensorGradient::weigh(const Met &met, const WarpPairs &pairs, int64_t column, Numbers &scores, Numbers &along) {
  Numbers slopes;
  for (Value &score : scores)
    if (operands.step) {
      auto [value, slope] = on.finishScore(score, {}, {}, {});
      score = value;
      slopes.push_back(slope);
    }
  on.hide(scores, pairs, limits);
  Value factor = on.real(std::numbers::log2e * (operands.step ? 1 : operands.scale)), zero = on.real(0);
  Value grown = on.real(65536.0 / double(65536 - operands.threshold()));
  SmallVector<Value> keeps = on.drops ? on.kept(pairs) : SmallVector<Value>();
  for (size_t index = 0; index < scores.size(); ++index) {
    auto [largest, mean] = statisticsOf(met, column, index);
    Value p = on.power(math::FmaOp::create(builder, scores[index], factor, arith::NegFOp::create(builder, largest)));
    Value gradient = along[index];
    scores[index] = p;
    if (on.drops) {
      scores[index] = on.select(keeps[index], p, zero);
      gradient = on.select(keeps[index], arith::MulFOp::create(builder, gradient, grown), zero);
    }
    along[index] = arith::MulFOp::create(builder, arith::SubFOp::create(builder, gradient, mean), p);
    if (operands.step)
      along[index] = arith::MulFOp::create(builder, along[index], slopes[index]);
  }
}

/// Of the query of number `index` of the pairs.
std::pair<Value, Value> TensorGradient::statisticsOf(const Met &met, int64_t column, size_t index) {
  if (!ofKeys)
    return {ownLargest[index % 4 / 2], ownMean[index % 4 / 2]};
  Value ofLane = tenon::multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  Value first = elementAddress(builder, at(statistics, f32, met.stage, kStatistics * tile.side), f32, ofLane);
  Value address = at(first, f32, column + int64_t(index / 4 * 8 + index % 2));
  Value largest = LLVM::LoadOp::create(builder, f32, address);
  return {largest, LLVM::LoadOp::create(builder, f32, at(address, f32, tile.side))};
}

/// The sums of the warp's rows, four of a lane for each 8 columns, times a factor.
void TensorGradient::store(Value result, int64_t width, ArrayRef<Value> sums, double factor) {
  if (!result)
    return;
  Value column = tenon::multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  for (int64_t which : {0, 1}) {
    Value line = on.lineOf({firstLine, {}, !ofKeys, 0}, which);
    code.ifThen(on.less(line, ofKeys ? on.keys : on.queries), [&] {
      Value offset = ofKeys ? on.offsetOfKey(line, width) : on.offsetOfQuery(line, width);
      Value base = elementAddress(builder, code.pointer(result), on.stored, add(builder, offset, column));
      for (int64_t block = 0; block < width / 8; ++block) {
        auto number = [&](int64_t i) -> Value {
          return arith::MulFOp::create(builder, sums[size_t(4 * block + 2 * which + i)], on.real(factor));
        };
        LLVM::StoreOp::create(builder, on.pack(number(0), number(1)), at(base, on.stored, 8 * block), 4);
      }
    });
  }
}

} // namespace

int64_t GradientTile::sharedBytes(const AttentionOperands &operands) const {
  const int64_t rows = std::max(kStages * side, kRows);
  const int64_t elements = TileRows(rows, operands.keyWidth()).elements() + TileRows(rows, operands.valueWidth()).elements();
  return 2 * elements + 4 * kStatistics * std::max(kStages * side, kRows);
}

std::optional<GradientTile> GradientTile::fitting(const AttentionOperands &operands) {
  constexpr int64_t sharedBytes = 48 << 10; // of a block, without asking for more
  const int64_t wide = std::max(operands.keyWidth(), operands.valueWidth());
  for (int64_t side : {64, 32, 16})
    if (const GradientTile tile{side, 16, wide <= 64 ? 168 : 255}; tile.sharedBytes(operands) <= sharedBytes)
      return tile;
  return std::nullopt;
}

bool takesTensorGradient(AttentionGradOp op) {
  const AttentionOperands operands(op);
  const Type storage = operands.storage();
  if (!storage.isBF16() && !storage.isF16())
    return false;
  for (Value tensor :
       {operands.key, operands.value, Value(op.getDy()), Value(op.getDquery()), Value(op.getDkey()), Value(op.getDvalue())})
    if (cast<RankedTensorType>(tensor.getType()).getElementType() != storage)
      return false;
  constexpr int64_t widest = 128; // what a thread has registers for
  for (int64_t width : {operands.keyWidth(), operands.valueWidth()})
    if (width % 16 || width > widest)
      return false;
  return !operands.anyTable() && !operands.selectedScores && GradientTile::fitting(operands);
}

DictionaryAttr chooseTensorGradient(AttentionGradOp op) {
  const GradientTile tile = *GradientTile::fitting(AttentionOperands(op));
  return makeChoice(op.getContext(), kTensorForm,
                    {{"side", tile.side}, {"columns", tile.columns}, {"registers", tile.registers}});
}

ChoiceForm formOfTensorGradient(const AttentionOperands &operands) {
  const int64_t largest = GradientTile::fitting(operands)->side;
  return {kTensorForm, {{"side", 16, largest, 1, true}, {"columns", 16, largest, 1, true}, {"registers", 32, 255}}};
}

LogicalResult addTensorGradients(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                 LaunchSequence &sequence) {
  if (tile.columns > tile.side)
    return op.emitOpError("expects in ") << kChosen << " columns inside of the side, got " << tile.columns << " of " // S11
                                         << tile.side;
  const int64_t ofQuery = kStatistics * 4 * operands.heads();
  const unsigned statistics = sequence.temporary(operands.batches() * operands.queries() * ofQuery);
  auto addOne = [&](const Part &part, int64_t heads, AffineExpr lines) {
    Launch launch = gradientLaunch(part.name, op, operands, PairTile{tile.kRows}, heads, lines);
    launch.threads = tile.kThreads;
    launch.registers = tile.registers;
    for (Value result : {part.byScores, part.byWeights})
      if (result)
        launch.writes.push_back(result);
    launch.temporaries = {statistics};
    launch.body = [&](KernelCode &code) { TensorGradient(op, code, operands, tile, part).emit(); };
    sequence.add(launch);
  };
  const WantedGradients wanted(op);
  addOne({"attention_queries_mma", false, wanted.query, {}}, operands.heads(), operands.queries());
  auto addKeys = [&](StringRef name, Value byScores, Value byWeights) {
    if (byScores || byWeights)
      addOne({name, true, byScores, byWeights}, operands.keyHeads(), operands.keys());
  };
  constexpr int64_t most = 128; // columns of sums that a thread has registers for, beside what they are made of
  const bool fits = operands.keyWidth() + operands.valueWidth() <= most;
  addKeys("attention_keys_mma", wanted.key, fits ? wanted.value : Value());
  addKeys("attention_values_mma", {}, fits ? Value() : wanted.value);
  return success();
}

} // namespace tenon::gpu
