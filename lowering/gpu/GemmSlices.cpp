// Products whose depth is cut into slices: where tiles are fewer than processors and the depth is long. The kernel of the
// products leaves the sums of each slice in f32, and a second one adds those of an element in the order of the depth, slice by
// slice, and has the code behind the sums.
#include "lowering/gpu/GemmForm.h"

using namespace mlir;

namespace tenon::gpu {

void GemmForm::addLaunches(LaunchSequence &sequence, Launch launch, int64_t slices) const {
  constexpr int64_t tileRows = 16, tileColumns = 64, threads = 256, together = 4;
  if (slices == 1) {
    sequence.add(launch);
    return;
  }
  const unsigned parts = sequence.temporary(sizeOf(batch) * sizeOf(rows) * sizeOf(columns) * (slices * elementBytes(element)));
  launch.temporaries = {parts};
  launch.writes.clear();
  sequence.add(launch);
  Launch sums = launchOf("gemm_sums", tileRows, tileColumns);
  sums.temporaries = {parts};
  sums.threads = threads;
  sums.body = [&](KernelCode &code) {
    GemmCode gemm(*this, code, tileRows, tileColumns);
    gemm.emitSlices(tileRows, tileColumns, together, slices);
  };
  sequence.add(sums);
}

std::pair<Value, Value> GemmCode::steps(int64_t depth) {
  Value all = ceilDivide(builder, code.size(form.sizeOf(form.depth)), constant(builder, depth));
  if (slices == 1)
    return {constant(builder, 0), all};
  Value each = ceilDivide(builder, all, constant(builder, slices));
  Value first = minimum(builder, multiply(builder, slice, each), all);
  return {first, minimum(builder, add(builder, first, each), all)};
}

Value GemmCode::numberOfPart(Value of, Value row, Value column) {
  Value batch = add(builder, multiply(builder, of, code.size(form.sizeOf(form.batch))), batchNumber);
  Value line = add(builder, multiply(builder, batch, code.size(form.sizeOf(form.rows))), row);
  return add(builder, multiply(builder, line, code.size(form.sizeOf(form.columns))), column);
}

void GemmCode::storeParts(Value row, int64_t step, Value column, Rows sums) {
  Value left = subtract(builder, code.size(form.sizeOf(form.rows)), row);
  for (auto [i, ofRow] : llvm::enumerate(sums)) {
    Value away = constant(builder, int64_t(i) * step);
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, left, away), [&, &ofRow = ofRow] {
      Value number = numberOfPart(slice, add(builder, row, away), column);
      storeVector(builder, ofRow, elementAddress(builder, code.temporary(0), form.element, number));
    });
  }
}

/// Rows behind the last one read what that one does.
void GemmCode::emitSlices(int64_t rows, int64_t columns, int64_t together, int64_t ofSlices) {
  Value last = subtract(builder, code.size(form.sizeOf(form.rows)), constant(builder, 1));
  auto emitRows = [&](const Places &places, const LaneCode &columns) {
    Value row = add(builder, firstRow, places.row);
    SmallVector<SmallVector<Value>> parts(static_cast<size_t>(places.count));
    for (int64_t of = 0; of < ofSlices; ++of)
      for (int64_t i = 0; i < places.count; ++i) {
        Value own = minimum(builder, add(builder, row, constant(builder, i * places.step)), last);
        Value number = numberOfPart(constant(builder, of), own, places.column);
        parts[size_t(i)].push_back(scalars.load(form.element, code.temporary(0), number));
      }
    SmallVector<SmallVector<Value>> sums;
    for (ArrayRef<Value> ofElement : parts) {
      Value sum = ofElement.front();
      for (Value part : ofElement.drop_front())
        sum = arith::AddFOp::create(builder, sum, part);
      sums.push_back({sum});
    }
    emitTogether(columns, row, places.step, sums);
  };
  ofBlock(firstRow, rows, columns, 1, [&](const SumsPart &part) { overPart(part, together, emitRows); });
}

} // namespace tenon::gpu
