#include "lowering/gpu/WarpgroupOperands.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"

using namespace mlir;

namespace tenon::gpu {

using Run = WarpgroupOperands::Run;
constexpr int64_t kLines = WarpgroupOperands::kLines;

/// Whether each entry of a dim lies behind the one before it: the driver asks that of the dims of a map, which reads of windows,
/// or backwards, have not.
static bool liesApart(const GemmForm &form, ArrayRef<Run> runs) {
  for (auto [outer, inner] : llvm::zip(runs.drop_back(), runs.drop_front()))
    if (!isNatural(outer.stride - inner.stride * form.sizeOf(inner.labels)))
      return false;
  return true;
}

/// Outermost first. Empty where the engine of copies cannot bring tiles of the operand: it is computed, its dims overlap, lines
/// or depth lie in pieces that are not known to be a multiple of 64, or neighbours in memory are not known to be one of 16 bytes.
static SmallVector<Run> runsOf(const GemmForm &form, const GemmSide &side) {
  constexpr int64_t chunk = 8, mostDims = 5;
  const AffineExpr zero = getAffineConstantExpr(0, side.type.getContext());
  if (!side.tensor || side.aligned(chunk) != chunk || llvm::is_contained(side.strides, zero))
    return {};
  const Labels *parts[] = {&side == &form.a ? &form.rows : &form.columns, &form.depth, &form.batch};
  size_t next[3] = {0, 0, 0}; // label of each part
  SmallVector<Run> runs;
  for (auto [label, stride] : llvm::zip_equal(side.labels, side.strides)) {
    const auto part =
        Run::Part(llvm::find_if(parts, [&, l = label](const Labels *of) { return llvm::is_contained(*of, l); }) - parts);
    const size_t number = size_t(llvm::find(*parts[part], label) - parts[part]->begin());
    if (part != Run::Batch && number != next[part])
      return {};
    const bool goesOn = !runs.empty() && runs.back().part == part && number == next[part];
    if (!goesOn || runs.back().stride != stride * form.sizeOf({label}))
      runs.push_back({part, {}, {}});
    next[part] = number + 1;
    runs.back().labels.push_back(label);
    runs.back().stride = stride;
  }
  for (const Run &run : ArrayRef(runs).drop_front()) {
    const Run &first = *llvm::find_if(runs, [&](const Run &other) { return other.part == run.part; });
    if (run.part != Run::Batch && &first != &run && !form.sizeOf(run.labels).isMultipleOf(kLines))
      return {};
  }
  const bool fits = next[Run::Lines] > 0 && next[Run::Depth] > 0 && runs.back().part != Run::Batch;
  return fits && int64_t(runs.size()) <= mostDims && (!side.isView || liesApart(form, runs)) ? runs : SmallVector<Run>();
}

WarpgroupOperands::WarpgroupOperands(const GemmForm &form, int64_t rows, int64_t columns)
    : form(form), lines{rows, columns}, sides{&form.a, &form.b}, runs{runsOf(form, form.a), runsOf(form, form.b)},
      operands{{runs[0].back().part == Run::Depth}, {runs[1].back().part == Run::Depth}} {}

bool WarpgroupOperands::fit(const GemmForm &form) { return !runsOf(form, form.a).empty() && !runsOf(form, form.b).empty(); }

LogicalResult WarpgroupOperands::check(const GemmForm &form, StringRef chosen) {
  if (fit(form))
    return success();
  return GemmOp(form.op)->emitOpError("expects in ") << kChosen << " another form than " << chosen // S11
                                                     << ": an operand is computed, its lines or depth lie in pieces that are not "
                                                        "known to be a multiple of 64, or its innermost "
                                                        "size is not known to be one of 8";
}

SmallVector<TensorMap> WarpgroupOperands::maps() const { return {mapOf(0), mapOf(1)}; }

SmallVector<Run> WarpgroupOperands::runsOfPart(int side, Run::Part part) const {
  SmallVector<Run> result;
  llvm::copy_if(runs[side], std::back_inserter(result), [&](const Run &run) { return run.part == part; });
  return result;
}
/// Boxes of a stage, which differ in their lines.
int64_t WarpgroupOperands::piecesOf(int side) const {
  return operands[side].alongDepth && runsOfPart(side, Run::Lines).size() == 1 ? 1 : lines[side] / kLines;
}

TensorMap WarpgroupOperands::mapOf(int side) const {
  TensorMap map{sides[side]->tensor, sides[side]->offset, {}, {}, {}};
  bool seen[] = {false, false};
  for (const Run &run : llvm::reverse(runs[side])) {
    map.sizes.push_back(form.sizeOf(run.labels));
    map.strides.push_back(run.stride);
    const bool isOne = run.part == Run::Batch || std::exchange(seen[run.part], true);
    map.box.push_back(isOne ? 1 : run.part == Run::Lines ? lines[side] / piecesOf(side) : kLines);
  }
  return map;
}

static Value bytesFrom(ImplicitLocOpBuilder &builder, Value memory, Value bytes) {
  return elementAddress(builder, memory, builder.getI8Type(), bytes);
}

Value WarpgroupOperands::stageAt(ImplicitLocOpBuilder &builder, Value memory, Value stage) const {
  return bytesFrom(builder, memory, multiply(builder, stage, constant(builder, stageBytes())));
}

void WarpgroupOperands::bring(KernelCode &code, GemmCode &gemm, Value stage, Value barrier, Value step) const {
  auto &builder = code.builder;
  Value depth = multiply(builder, step, constant(builder, kDepth));
  for (int side = 0; side < 2; ++side) {
    bringSide(code, gemm, side, stage, barrier, depth);
    stage = bytesFrom(builder, stage, constant(builder, lines[side] / kLines * WarpgroupOperand::kPiece));
  }
}

void WarpgroupOperands::bringSide(KernelCode &code, GemmCode &gemm, int side, Value to, Value barrier, Value depth) const {
  auto &builder = code.builder;
  for (int64_t piece = 0; piece < piecesOf(side); ++piece) {
    Value line = add(builder, side == 0 ? gemm.firstRow : gemm.firstColumn, constant(builder, piece * kLines));
    SmallVector<Value> ofLines = placesIn(code, side, Run::Lines, line), ofDepth = placesIn(code, side, Run::Depth, depth);
    SmallVector<Value> places;
    for (const Run &run : llvm::reverse(runs[side]))
      places.push_back(run.part == Run::Batch   ? gemm.batchPlace(run.labels)
                       : run.part == Run::Depth ? ofDepth.pop_back_val()
                                                : ofLines.pop_back_val());
    copyBox(builder, bytesFrom(builder, to, constant(builder, piece * WarpgroupOperand::kPiece)), barrier,
            code.map(unsigned(side)), places);
  }
}

/// Of number `number` in the lines or the depth, in each run of these; what is behind the last one is outside of the first.
SmallVector<Value> WarpgroupOperands::placesIn(KernelCode &code, int side, Run::Part part, Value number) const {
  auto &builder = code.builder;
  const SmallVector<Run> all = runsOfPart(side, part);
  SmallVector<Value> places(all.size());
  for (size_t i = all.size() - 1; i > 0; --i) {
    Value size = code.size(form.sizeOf(all[i].labels));
    places[i] = remainder(builder, number, size);
    number = divide(builder, number, size);
  }
  places[0] = number;
  return places;
}

void WarpgroupOperands::multiplyStage(ImplicitLocOpBuilder &builder, Value stage, Value first,
                                      MutableArrayRef<Value> sums) const {
  constexpr int64_t atOnce = 16; // steps of the depth
  const size_t perPiece = size_t(lines[1] / 2);
  SmallVector<Value> pieces;
  for (size_t i = 0; i < sums.size() / perPiece; ++i) {
    Value bytes =
        multiply(builder, add(builder, first, constant(builder, int64_t(i))), constant(builder, WarpgroupOperand::kPiece));
    pieces.push_back(operands[0].descriptor(builder, bytesFrom(builder, stage, bytes)));
  }
  Value columns =
      operands[1].descriptor(builder, bytesFrom(builder, stage, constant(builder, lines[0] / kLines * WarpgroupOperand::kPiece)));
  openProducts(builder);
  for (int64_t step = 0; step < kDepth / atOnce; ++step)
    for (auto [i, piece] : llvm::enumerate(pieces))
      multiplyAsync(builder, form.stored, add(builder, piece, constant(builder, step * operands[0].perStep())),
                    add(builder, columns, constant(builder, step * operands[1].perStep())), operands,
                    sums.slice(i * perPiece, perPiece));
  commitProducts(builder);
}

SmallVector<Value> WarpgroupOperands::multiplySteps(KernelCode &code, StageRing &ring, Value memory,
                                                    std::pair<Value, Value> steps, StageRing::Turn &turn, Value piece,
                                                    ValueRange sums) const {
  auto &builder = code.builder;
  Value lane = remainder(builder, code.thread(), constant(builder, 32));
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane, constant(builder, 0));
  // Where the steps are known, LLVM would else set the registers behind the fence of the first one.
  SmallVector<Value> start(sums);
  holdBehind(builder, start);
  return ring.overSteps(steps, turn, start, [&](Value step, StageRing::Turn at, ValueRange before) {
    SmallVector<Value> after(before);
    ring.waitFull(at);
    multiplyStage(builder, stageAt(builder, memory, at.stage), piece, after);
    waitForProducts(builder, 1);
    Value isLater = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, step, steps.first);
    code.ifThen(arith::AndIOp::create(builder, isFirst, isLater), [&] { ring.release(ring.before(at)); });
    return after;
  });
}

} // namespace tenon::gpu
