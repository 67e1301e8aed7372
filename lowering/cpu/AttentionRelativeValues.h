// Values of relative positions: y_i gets sum_j p_ij value_table_d. Probabilities stand by place beside the strip of scores (the
// band), so that this is a contraction with the packed table; backward the same band first holds dy . value_table by place, then
// p.
#pragma once
#include "lowering/cpu/AttentionScores.h"

namespace tenon::cpu {

class RelativeValues {
public:
  using Block = AttentionScores::Block;

  RelativeValues(AttentionCode &on, const AttentionOperands &operands, AttentionScores &terms)
      : on(on), operands(operands), terms(terms), builder(on.builder), emit(on.emit) {}

  bool any() const { return bool(operands.valueTable); }
  /// Gradient of the table of one (batch, head), by place: elements between rows, the same in every tier.
  static int64_t gradientWidth(const AttentionOperands &operands) { return AttentionCode::roundUp(operands.valueWidth(), 32); }

  /// One task: `band` is scratch for AttentionScores::bandElements, which forward is that of the scores, of which a row has been
  /// read when its probabilities come.
  void enter(Value itsBand) { band = itsBand; }
  /// Row `number` of the band: the address of key 0 of the chunk.
  Value row(const Block &block, Value number, QueryPlace place) const;
  /// Zero at the places of the row that no vector of [parts.begin, parts.end) covers.
  void clearHidden(const Block &block, Value number, QueryPlace place, const RowParts &parts, Value zero) const;

  /// sums += probabilities of the band . table.
  void addValues(const Block &block, Value sums, int64_t sumStride) const;
  /// band = dy . table.
  void contractGradients(const Block &block, Value dyRows) const;
  /// `grads`, by place, += probabilities of the band, transposed, . dy.
  void addTableGradients(const Block &block, Value yPanels, Value grads) const;

private:
  AttentionCode &on;
  const AttentionOperands &operands;
  AttentionScores &terms;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  Value band;
};

} // namespace tenon::cpu
