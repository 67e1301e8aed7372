// Attention: the general form of the language, and the fused form the kernels implement.
#ifndef TENON_ATTENTION_OPS_TD
#define TENON_ATTENTION_OPS_TD
include "TenonDialect.td"

def Tenon_AttendOp : Tenon_Op<"attend", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "score terms, masks, softmax over keys, dropout, weighted sum of values: attention as the language states it";
  let description = [{
    Formula: with the labels of the index space (0 .. r-1 the dimensions of y, r the key, further ones none):
    `s = scale * sum of scores` at every place whose masks all hold, `p = softmax over the key of s`, 0 where a mask fails; a query that sees no key gives p = 0;
    `y = sum over the key of dropout(p) * value`.
    Every operand has `labels`: which dimension of the index space each of its dimensions is. p lives on the union of the labels of scores and masks.

    Constraints: C1 scores, masks and value mention the key; C2 sizes of equal labels agree; C3 every dimension of y is mentioned.

    This is the meaning, evaluated element by element it needs queries x keys numbers; `tenon-fuse-attention` turns it into `tenon.attention`.

    Example:
    ```mlir
    %y = tenon.attend scores(%s) masks(%m) value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
      : (tensor<2x5x4x5xf32>, tensor<5x5xi1>, tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Tenon_RealTensor>:$scores, Variadic<Tenon_BoolTensor>:$masks, Tenon_RealTensor:$value, Optional<Tenon_RealTensor>:$factor,
                   Optional<Index>:$depth, ArrayAttr:$labels, F64Attr:$scale, F64Attr:$rate, I64Attr:$site, OptionalAttr<StrArrayAttr>:$names);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "`scores` `(` $scores `)` `masks` `(` $masks `)` `value` `(` $value `)` (`factor` `(` $factor^ `)`)? (`depth` $depth^)? `labels` $labels `scale` $scale `rate` $rate `site` $site attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_AttentionOp : Tenon_Op<"attention", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "fused attention";
  let description = [{
    Formula (codegen.md, section 2): for batch b, head h, query i, key j
    `s_ij = scale ((q_i + u) . k_j + (q_i + v) . r_(d(i,j)) + (q_i + w) . g_(c(i,j)) + t_(d(i,j)))`, p = softmax over the visible keys, `y_i = sum_j dropout(p_ij) v_j`.

    | operand | shape | meaning |
    |---|---|---|
    | query | [B, I, H, E] | |
    | key | [B, J, H, E] | |
    | value | [B, J, H, F] | |
    | content_bias u | [H, E] | optional |
    | position_bias v | [H, E] | with table |
    | table r | [P, H, E] | relative keys; row d(i, j) |
    | segment_bias w | [H, E] | with segments |
    | segments g | [2, H, E] | row c(i, j) = 1 where query_segment != key_segment |
    | score_table t | [H, P] | |
    | operands of index maps | integers, [B, I], [B, J], [I], [J], [B] | |

    d(i, j) = `low + sign(b) * (place(i) - j)`: `low` a linear form of the dims, sign -1 for batch rows whose `back` is true, place the optional
    operand [B, I] (else i). `clip` > 0 clips place - j first.

    `mask` is a list of masks that must all hold (dialect/AttentionMasks.h): and, or, not over leaves that test an integer form
    `rest + query * i + key * j + sum of coefficient * operand` for being <= 0 ("le") or = 0 ("eq"), or take an i1 operand ("holds"). `mask_labels` says for every mask operand
    which index each of its dimensions is: 0 batch, 1 query, 2 key. Causal attention over M remembered keys is `j - i - M <= 0`, padding `j - len[b] + 1 <= 0`.

    Constraints: C1 query, key, value agree as the table says; H, E, F are numbers; C2 no term but the content term (biases, tables, segments, places are not supported yet);
    C3 masks are well-formed and name operands that exist; C4 mask operands have the sizes of their labels; C5 0 <= rate < 1; C6 row_max and row_sum_inverse are [B, H, I].

    row_max and row_sum_inverse [B, H, I] are kept for the gradient: the maximum of s and 1 / sum exp(s - max), 0 for a row that sees no key.

    Gradient: `tenon.attention_grad`, which recomputes p.

    Source: Dao 2023 (row statistics, recomputation); Dai et al. 2019 section 3.3 (u, v, r); Yang et al. 2019 section 2.5 (segments); Raffel et al. 2020 (score table).
  }];
  let arguments = (ins Tenon_RealTensor:$query, Tenon_RealTensor:$key, Tenon_RealTensor:$value,
                   Optional<Tenon_RealTensor>:$content_bias, Optional<Tenon_RealTensor>:$position_bias, Optional<Tenon_RealTensor>:$table,
                   Optional<Tenon_RealTensor>:$segment_bias, Optional<Tenon_RealTensor>:$segments, Optional<Tenon_RealTensor>:$score_table,
                   Optional<Tenon_IntTensor>:$query_segment, Optional<Tenon_IntTensor>:$key_segment,
                   Optional<Tenon_IntTensor>:$place, Optional<Tenon_BoolTensor>:$back,
                   Variadic<Tenon_Tensor>:$mask_operands, Optional<Index>:$depth,
                   F64Attr:$scale, AffineMapAttr:$low, DefaultValuedAttr<I64Attr, "0">:$clip, ArrayAttr:$mask, ArrayAttr:$mask_labels, F64Attr:$rate, I64Attr:$site);
  let results = (outs Tenon_RealTensor:$y, Tenon_RealTensor:$row_max, Tenon_RealTensor:$row_sum_inverse);
  let hasVerifier = 1;
}
def Tenon_AttentionGradOp : Tenon_Op<"attention_grad", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "gradient of attention with respect to every real operand";
  let description = [{
    Formula: codegen.md, section 2 (D = sum_e dy y; dP, dS; sums per operand). p is recomputed from row_max and row_sum_inverse.
    Operands: dy, then those of the forward op, its results. Results: one per real operand that is present, in the order of the forward op.

    Source: Dao 2023, algorithm 2, extended by the relative and segment terms.
  }];
  let arguments = (ins Tenon_RealTensor:$dy, Tenon_RealTensor:$y, Tenon_RealTensor:$row_max, Tenon_RealTensor:$row_sum_inverse,
                   Tenon_RealTensor:$query, Tenon_RealTensor:$key, Tenon_RealTensor:$value,
                   Optional<Tenon_RealTensor>:$content_bias, Optional<Tenon_RealTensor>:$position_bias, Optional<Tenon_RealTensor>:$table,
                   Optional<Tenon_RealTensor>:$segment_bias, Optional<Tenon_RealTensor>:$segments, Optional<Tenon_RealTensor>:$score_table,
                   Optional<Tenon_IntTensor>:$query_segment, Optional<Tenon_IntTensor>:$key_segment,
                   Optional<Tenon_IntTensor>:$place, Optional<Tenon_BoolTensor>:$back,
                   Variadic<Tenon_Tensor>:$mask_operands, Optional<Index>:$depth,
                   F64Attr:$scale, AffineMapAttr:$low, DefaultValuedAttr<I64Attr, "0">:$clip, ArrayAttr:$mask, ArrayAttr:$mask_labels, F64Attr:$rate, I64Attr:$site);
  let results = (outs Tenon_RealTensor:$dquery, Tenon_RealTensor:$dkey, Tenon_RealTensor:$dvalue,
                   Optional<Tenon_RealTensor>:$dcontent_bias, Optional<Tenon_RealTensor>:$dposition_bias, Optional<Tenon_RealTensor>:$dtable,
                   Optional<Tenon_RealTensor>:$dsegment_bias, Optional<Tenon_RealTensor>:$dsegments, Optional<Tenon_RealTensor>:$dscore_table);
}
#endif
