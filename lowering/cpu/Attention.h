// What the forward and the backward kernel of fused attention share: sizes, addresses, packed panels, masks, dropout.
#pragma once
#include "dialect/AttentionMasks.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"

namespace tenon::cpu {

/// C[m, n] (+)= A[m, k] * B[k, n]: B in packed panels `panelStride` elements apart. C has room for n rounded up to whole panels.
struct BlockContraction {
  Value m, n, k;
  Value a, aRowStride, aColStride;
  Value b, panelStride;
  Value c, cRowStride;
  bool accumulate = false;
};

/// The keys of one row or strip that may be visible: [low, high).
struct KeyRange {
  Value low, high;
};

/// The conjunction of masks of one attention op. Tests that bound the key by values of the row become ranges: what lies outside is never computed. Everything
/// else is evaluated per element.
class AttentionMask {
public:
  AttentionMask(mlir::ArrayAttr masks, mlir::ArrayAttr labels, mlir::ValueRange operands);

  struct Place {
    Value batch, query; // i64
  };
  /// Bounds that hold for all queries in [first, last] of a row of the batch, within [0, keys).
  KeyRange ofStrip(FunctionCode &code, Value batch, Value first, Value last, Value keys) const;
  /// Bounds of one query.
  KeyRange ofRow(FunctionCode &code, Place place, Value keys) const;
  /// The tests that are no bounds, for keys firstKey + lane; null if there are none. `inside`: lanes whose key exists.
  Value others(FunctionCode &code, Place place, Value firstKey, int64_t lanes, Value inside) const;

private:
  struct Bound {
    MaskForm form;
    bool onStrip; // no operand of it depends on the query
  };
  Value boundAt(FunctionCode &code, const MaskForm &form, Place place) const;
  Value evaluate(FunctionCode &code, const Mask &mask, Place place, Value firstKey, int64_t lanes, Value inside) const;
  Value form(FunctionCode &code, const MaskForm &form, Place place, Value firstKey, int64_t lanes, Value inside) const;
  bool dependsOn(int64_t operand, int64_t label) const { return llvm::is_contained(labels[operand], label); }
  /// Element address parts of an operand: linear index without the key.
  Value indexOf(FunctionCode &code, int64_t operand, Place place) const;
  Value scalarOperand(FunctionCode &code, int64_t operand, Place place) const;
  Value laneOperand(FunctionCode &code, int64_t operand, Place place, Value firstKey, int64_t lanes, Value inside) const;

  llvm::SmallVector<Value> operands;
  llvm::SmallVector<llvm::SmallVector<int64_t>> labels;
  llvm::SmallVector<Bound> lower, upper;
  llvm::SmallVector<Mask> rest;
};

/// Sizes and code of one tile's function.
class AttentionCode {
public:
  /// Keys whose scores exist at a time.
  static constexpr int64_t chunkKeys = 1024;

  AttentionCode(FunctionCode &code, Value query, Value key, Value value);

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  Emitter emit;
  mlir::Type element;
  int64_t lanes;       // of a register
  int64_t rowLanes;    // of row passes: the same in every tier
  int64_t width;       // columns of a panel
  int64_t heads, keyWidth, valueWidth; // H, E, F
  Value batches, queries, keys;        // B, I, J
  int64_t rowsPerStrip;
  Value strips, stripRows;             // strips of a head; rows of all strips but the last
  Value scoreStride;                   // elements between rows of the strip of scores

  static int64_t roundUp(int64_t size, int64_t to) { return (size + to - 1) / to * to; }
  static int64_t stripLimit(Tier tier) { return tier == Tier::Avx2 ? 30 : tier == Tier::Avx512 ? 28 : 32; }
  static int64_t panelWidth(Tier tier, mlir::Type element) { return microTile(tier).vectors * tierLanes(tier, element); }
  /// Elements of scratch for a strip of scores; for panels over `chunkKeys` columns and `depth` steps; for panels over `columns` and `depth` steps.
  static int64_t scoreElements(Tier tier) { return stripLimit(tier) * (chunkKeys + 16); }
  static int64_t panelElements(Tier tier, mlir::Type element, int64_t depth, int64_t columns) {
    int64_t lanes = tierLanes(tier, element), width = panelWidth(tier, element);
    return roundUp(columns, width) * roundUp(depth, lanes);
  }

  Value number(int64_t value) { return constant(builder, value); }
  Value real(double value) { return mlir::arith::ConstantOp::create(builder, builder.getFloatAttr(element, value)); }
  mlir::VectorType rowVector() { return mlir::VectorType::get({rowLanes}, element); }
  Value spread(Value scalar);
  Value at(Value base, Value index) { return emit.at(base, element, index); }
  Value loadRow(Value address, Value mask = {});
  void storeRow(Value vector, Value address, Value mask = {});
  Value exponential(Value x);
  /// Lanes of [0, count).
  Value firstLanes(Value count) { return emit.firstLanes(count, rowLanes); }

  /// Element (batch, position, head, 0) of a tensor [.., positions, H, width].
  Value row(Value tensor, Value batch, Value positions, Value position, Value head, int64_t ofWidth);
  /// Panels over `columns` positions, the width along the depth (a transposed copy).
  void packColumns(Value source, Value count, int64_t ofWidth, Value panels);
  /// Panels over the width, `count` positions along the depth.
  void packRows(Value source, Value count, int64_t ofWidth, Value panels, Value panelStride);
  void contract(const BlockContraction &block);
  /// Lanes of one row that are visible: keys firstKey + lane.
  Value visible(const AttentionMask &mask, AttentionMask::Place place, KeyRange range, Value firstKey);
  /// Which of 16 neighbours, from logical index `first` on, survive the dropout.
  Value keeps(Value first, int64_t site, int64_t threshold, Value depth);
  /// for (key = low; key < high; key += rowLanes), carrying vectors.
  llvm::SmallVector<Value> alongRow(Value low, Value high, mlir::ValueRange carried,
                                    llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)> body);
  void fill(Value base, Value count, Value vector);
};

} // namespace tenon::cpu
