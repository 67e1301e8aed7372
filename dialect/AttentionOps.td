// Attention: the general form of the language, and the fused form the kernels implement.
#ifndef TENON_ATTENTION_OPS_TD
#define TENON_ATTENTION_OPS_TD
include "TenonDialect.td"

def Tenon_AttendOp : Tenon_Op<"attend", [Pure, AttrSizedOperandSegments, Tenon_ReadsMemory,
                                         DeclareOpInterfaceMethods<RowOpInterface, ["dimsInResults", "mayDrawAt", "drawAt"]>,
                                         DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "score terms, masks, softmax over keys, dropout, weighted sum of values: attention as the language states it";
  let description = [{
    Formula: with the labels of the index space (0 .. r-1 the dimensions of y, r the key):
    `s = scale * sum of scores` at every place whose masks all hold, `p = softmax over the key of s`, 0 where a mask fails; a
    query that sees no key gives p = 0; `y = sum over the key of dropout(p) * value`.
    Every operand has `labels`: which dimension of the index space each of its dimensions is. p lives on the union of the labels
    of scores and masks.

    | operand | shape | dtype |
    |---|---|---|
    | scores | as labelled | real, as y |
    | masks | as labelled | truth value |
    | value | as labelled | real, as y |
    | factor | as labelled, optional | real: multiplies the scores |
    | drawn_at | as labelled, optional | integer: places in the whole, of which y is rows |
    | depth | index, optional | index: of the stack, for the dropout site |

    Dropout draws by where an element of p stands. With `drawn_at` y is some rows of a whole: the last of its labels names their
    dimension, of which the whole has `drawn_of`, and a row draws what stands at its place there.

    `queries` names the dimensions of y that the language binds as places, for where the keys lack more than one dimension (heads
    that share keys).

    This is the meaning, evaluated element by element it needs queries x keys numbers; `tenon-fuse-attention` turns it into
    `tenon.attention`.

    Constraints: C1 scores, masks and value mention the key; C2 sizes of equal labels agree; C3 every dimension of y is mentioned;
    C4 one label per dimension, from 0 to r, different within an operand; C5 scores, value, factor and y have one element type; C6
    0 <= rate < 1; C7 drawn_at comes together with drawn_of, a size over the dims of the entry; its labels are of p, without the
    key.

    Gradient: none of its own: it is fused or decomposed before differentiation.

    Source: Vaswani et al. 2017, section 3.2.1; Shaw et al. 2018 and Dai et al. 2019 for sums of scores.

    Example:
    ```mlir
    %y = tenon.attend scores(%s) masks(%m) value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
      : (tensor<2x5x4x5xf32>, tensor<5x5xi1>, tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Tenon_RealTensor>:$scores, Variadic<Tenon_BoolTensor>:$masks, Tenon_RealTensor:$value,
                   Optional<Tenon_RealTensor>:$factor, Optional<Tenon_IntTensor>:$drawn_at, Optional<Index>:$depth,
                   ArrayAttr:$labels, F64Attr:$scale, F64Attr:$rate, Tenon_Site:$site, OptionalAttr<StrArrayAttr>:$names,
                   OptionalAttr<DenseI64ArrayAttr>:$queries, OptionalAttr<AffineMapAttr>:$drawn_of);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "`scores` `(` $scores `)` `masks` `(` $masks `)` `value` `(` $value `)` (`factor` `(` $factor^ `)`)? "
                       "(`drawn` `(` $drawn_at^ `)` `of` $drawn_of)? (`depth` $depth^)? `labels` $labels "
                       "`scale` $scale `rate` $rate `site` $site attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    bool takesLong() { return true; }
  }];
}

def Tenon_AttentionOp : Tenon_Op<"attention", [
    Pure, AttrSizedOperandSegments, IsolatedFromAbove, Tenon_ReadsMemory,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>, DeclareOpInterfaceMethods<DecomposableOpInterface>,
    DeclareOpInterfaceMethods<MixedPrecisionOpInterface, ["narrowOperands", "narrowResults", "isReduction",
                                                          "roundsWhatItReads"]>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "fused attention";
  let description = [{
    Formula: for batch b, head h, query i, key j, with `Q` = position_query, `K` = position_key, `t` = score_table
    `s_ij = step(scale (q_i . k_j + Q_i . table_d + K_j . key_table_d + selected_scores_ic + t_d + pair_scores_ij))`, p = softmax
    over the visible keys,
    `y_i = sum_j dropout(p_ij) (v_j + value_table_d)`, `d = d(b, i, j)`, `c = c(b, i, j)`. The content term and v are always
    there, the other terms only with their operands.

    | operand | shape | meaning |
    |---|---|---|
    | query | [B, I, H, E] | its bias (Transformer-XL's u) already added |
    | key | [B, J, K, E] | head h reads the key head h div (H / K): K = H, or fewer heads of keys that groups of queries share |
    | value | [B, J, K, F] | |
    | position_query | [B, I, H, E] | optional, with table: the query with its other bias (Transformer-XL's v) |
    | table | [P, H, E] | optional: keys of relative positions, row d(b, i, j) |
    | selected_scores | [B, I, H, 2] | optional: a score per query and truth value c(b, i, j) (segments), contracted over E |
    | score_table | [P, H] | optional: a score per relative position, row d(b, i, j) |
    | value_table | [P, H, F] | optional: values of relative positions, row d(b, i, j) |
    | position_key | [B, J, K, E] | optional, with key_table: what keys ask of relative positions (DeBERTa) |
    | key_table | [P, H, E] | optional: queries of relative positions, row d(b, i, j) |
    | pair_scores | [B, H, I, J] | optional: a score per pair that is stored; B, H, I may be 1 each: the same for all |
    | index_operands | over batch, query, key | integers and truth values that masks, places and selections read |
    | depth | index | optional: the depth of the stack, for the dropout site |

    Integer forms (dialect/AttentionMasks.h): `rest + query * i + key * j + sum of coefficient * index operand`, `rest` a linear
    form of the dims. `index_labels` says for every index operand which index each of its dimensions is: 0 batch, 1 query, 2 key.

    d is such a form, `place = [form]`; with `place = [form, other]` the second one holds in the rows of the batch where index
    operand number `back` is true (reversed streams).
    Transformer-XL with M remembered keys: `M + i - j`. A table that is read at another function of the distance j - i, as
    clip(j - i, -W, W) + W, has its rows gathered in the order of the distance before: P = I + J - 1 and d = j - i + I - 1. A d
    outside 0 .. P-1 may occur only at masked places: no row of a table is read for it.

    With `computes_place` d is any integer function of the pair: `place` is empty, and the last region takes one scalar of each
    index operand, at (b, i, j), and yields d (two-dimensional relative positions: the place of i in a grid less that of j), or
    several, whose terms of table and score_table add up. They are computed for each pair, nothing of them is stored. value_table
    and key_table need a form.

    c is 1 where the mask `select` holds, else 0.

    dropout draws p_ij of head h at place ((b I + i) H + h) J + j. Queries that are some of a whole draw what stands there: with
    `drawn_at` i is replaced by index operand number `drawn_at` at (b, i), and I by `drawn_of`.

    step is the identity without a first region, which takes the scaled sum, a scalar, and yields its function and the
    derivative (a soft cap: 30 tanh(s / 30) and 1 - tanh(s / 30)^2). It is applied before masks.

    Row b of the batch reads row b of pair_scores; with `pair_batch = (outer, inner)`, for which B = outer P inner, it reads row
    (b div inner) mod P: what several axes of the batch that are merged have in common lies in memory once.

    `mask` is a list of masks that must all hold: and, or, not over leaves that test a form for being <= 0 ("le") or = 0 ("eq"),
    or take an i1 operand ("holds").
    Causal attention over M remembered keys is `j - i - M <= 0`, padding `j - len[b] + 1 <= 0`.

    query, key, value, position_query, table, value_table, position_key, key_table and y have one element type; the other
    tensors, and everything between, are of the type that it is computed in. key and value, which a state may keep, may be of
    that type too: they are rounded to the query's when they are read; or of 16 bits beside a query of f32: they are widened then.

    Constraints: C1 query, key, value and result agree as the table says, with one element type but for keys and values that are
    rounded or widened when read; H, K, E, F are numbers, H a multiple of K;
    C2 position_query and table come together and have their shapes, as do position_key and key_table; score_table and
    value_table have their shapes and the P of table;
    C3 place is there exactly with a table: one form, or two and `back`, or the code of `computes_place`, which is scalar code
    that takes the elements of the index operands and yields integers of 32 or 64 bits; a form's key coefficient is 1 or -1 and
    its operands do not depend on the key;
    C4 `back` names an i1 index operand [B];
    C5 select is a mask and comes together with selected_scores, which has its shape;
    C6 masks are well-formed and name operands that exist; "holds" names an i1 one; they and places are over the dims of the
    entry;
    C7 index operands have the sizes of their labels; C8 0 <= rate < 1, site is a number of 32 bits; C9 row_max and
    row_sum_inverse are [B, H, I];
    C10 there is at most one step: a block that takes one scalar of the type that elements are computed in and yields two;
    C11 drawn_at and drawn_of come together: an index operand of integers over the query, or the batch and the query, and a size
    over the dims of the entry;
    C12 pair_scores is [B or 1, H or 1, I or 1, J], with `pair_batch` [P, ..] and B = outer P inner over the dims of the entry; of
    the type that elements are computed in or of 16 bits that are widened to it.

    row_max and row_sum_inverse are kept for the gradient: the maximum of s and 1 / sum exp(s - max), 0 for a row that sees no
    key. A row whose visible scores are all -inf sees none.

    Gradient: `tenon.attention_grad`, which recomputes p. It gives the gradients of the tables per row of the batch, those of
    pair_scores for every pair; a `tenon.reduce` sums them in a fixed order.

    Source: Dao 2023 (row statistics, recomputation); Dai et al. 2019 section 3.3 (u, v, relative keys); Yang et al. 2019 section
    2.5 (segments); Raffel et al. 2020 section 2.1 (score table); He et al. 2021 section 3.1 (keys that ask); Liu et al. 2021
    section 3.2 (score table over a grid); Shaw et al. 2018 section 3.2 (relative values); Ainslie et al. 2023 (key heads for
    groups of queries); Bello et al. 2016 section 5 (tanh of scores); Jumper et al. 2021, supplement, algorithm 13 (scores of
    pairs).

    Example: causal attention over 3 remembered keys.
    ```mlir
    %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
      mask = [{test = "le", rest = affine_map<() -> (-3)>, query = -1 : i64, key = 1 : i64} ],
      scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x5x4x64xf32>, tensor<2x8x4x64xf32>, tensor<2x8x4x40xf32>) ->
      (tensor<2x5x4x40xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
      // %q: tensor<2x5x4x64xf32> %k: tensor<2x8x4x64xf32> %v: tensor<2x8x4x40xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$query, Tenon_RealTensor:$key, Tenon_RealTensor:$value,
                   Optional<Tenon_RealTensor>:$position_query, Optional<Tenon_RealTensor>:$table,
                   Optional<Tenon_RealTensor>:$selected_scores, Optional<Tenon_RealTensor>:$score_table,
                   Optional<Tenon_RealTensor>:$value_table, Optional<Tenon_RealTensor>:$position_key,
                   Optional<Tenon_RealTensor>:$key_table, Optional<Tenon_RealTensor>:$pair_scores,
                   Variadic<Tenon_Tensor>:$index_operands, Optional<Index>:$depth, F64Attr:$scale,
                   DefaultValuedAttr<ArrayAttr, "{}">:$place, UnitAttr:$computes_place,
                   OptionalAttr<I64Attr>:$back,
                   OptionalAttr<AnyAttr>:$select, DefaultValuedAttr<ArrayAttr, "{}">:$mask,
                   DefaultValuedAttr<ArrayAttr, "{}">:$index_labels, F64Attr:$rate, Tenon_Site:$site,
                   OptionalAttr<I64Attr>:$drawn_at, OptionalAttr<AffineMapAttr>:$drawn_of,
                   OptionalAttr<AffineMapAttr>:$pair_batch);
  let results = (outs Tenon_RealTensor:$y, Tenon_RealTensor:$row_max, Tenon_RealTensor:$row_sum_inverse);
  let regions = (region VariadicRegion<AnyRegion>:$code);
  let extraClassDeclaration = [{
    /// The region of the step, if there is one.
    ::llvm::MutableArrayRef<::mlir::Region> getStep() { return getCode().drop_back(getComputesPlace() ? 1 : 0); }
    /// The code of the place in the tables; null: it is a form.
    ::mlir::Region *getPlaceCode() { return getComputesPlace() ? &getCode().back() : nullptr; }
  }];
  let hasVerifier = 1;
}
def Tenon_AttentionGradOp : Tenon_Op<"attention_grad", [
    Pure, AttrSizedOperandSegments, IsolatedFromAbove, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<DecomposableOpInterface>,
    DeclareOpInterfaceMethods<MixedPrecisionOpInterface, ["narrowOperands", "narrowResults", "isReduction"]>,
    DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "gradient of attention with respect to every real operand";
  let description = [{
    Formula: with `D_i = sum_e dy_ie y_ie`, `dP_ij = dropout'(dy_i . (v_j + value_table_d))`, `dS = p (dP - D) step'(..) scale`, P
    recomputed from row_max and row_sum_inverse:
    `dquery_i = sum_j dS_ij k_j`, `dkey_j = sum_i dS_ij q_i`, `dvalue_j = sum_i dropout(p)_ij dy_i` (the heads of a group one
    after the other), `dposition_query_i = sum_j dS_ij table_d`, `dtable_m = sum over d = m of dS_ij Q_i`,
    `dselected_scores_ig = sum over c = g of dS_ij`, `dscore_table_m = sum over d = m of dS_ij`,
    `dvalue_table_m = sum over d = m of dropout(p)_ij dy_i`, `dposition_key_j = sum_i dS_ij key_table_d`,
    `dkey_table_m = sum over d = m of dS_ij K_j`, `dpair_scores_ij = dS_ij`, 0 where a mask fails.

    | operand | shape | dtype |
    |---|---|---|
    | dy, y | [B, I, H, F] | real |
    | row_max, row_sum_inverse | [B, H, I] | real |
    | the rest | as in `tenon.attention` | as there |

    Operands: dy, y and the row statistics, then those of the forward op. Results: dquery, dkey, dvalue, then one for each further
    real operand that is present; the tables' have the batch in front: dtable and dkey_table [B, P, H, E], dscore_table [B, P, H],
    dvalue_table [B, P, H, F], and dpair_scores is [B, H, I, J]; the differentiation rule sums them. A result that nobody reads is
    neither computed nor stored.

    Constraints: C1 those of the forward op; C2 dy has the type of y; C3 results have the types of their operands, those of tables
    the batch in front and elements of the type that is computed in; C4 dpair_scores is [B, H, I, J], its elements those that
    pair_scores may have.

    Gradient: not supported yet (a second derivative).

    Source: Dao 2023, algorithm 2, extended by the relative, selected and stored terms.

    Example:
    ```mlir
    %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>,
      mask = [{test = "le", rest = affine_map<() -> (-3)>, query = -1 : i64, key = 1 : i64} ],
      scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x5x4x40xf32>, tensor<2x5x4x40xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x64xf32>,
       tensor<2x8x4x64xf32>, tensor<2x8x4x40xf32>) ->
      (tensor<2x5x4x64xf32>, tensor<2x8x4x64xf32>, tensor<2x8x4x40xf32>)
      // %dy: tensor<2x5x4x40xf32> %y: tensor<2x5x4x40xf32> %m: tensor<2x4x5xf32> %s: tensor<2x4x5xf32>
      // %q: tensor<2x5x4x64xf32> %k: tensor<2x8x4x64xf32> %v: tensor<2x8x4x40xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$dy, Tenon_RealTensor:$y, Tenon_RealTensor:$row_max, Tenon_RealTensor:$row_sum_inverse,
                   Tenon_RealTensor:$query, Tenon_RealTensor:$key, Tenon_RealTensor:$value,
                   Optional<Tenon_RealTensor>:$position_query, Optional<Tenon_RealTensor>:$table,
                   Optional<Tenon_RealTensor>:$selected_scores, Optional<Tenon_RealTensor>:$score_table,
                   Optional<Tenon_RealTensor>:$value_table, Optional<Tenon_RealTensor>:$position_key,
                   Optional<Tenon_RealTensor>:$key_table, Optional<Tenon_RealTensor>:$pair_scores,
                   Variadic<Tenon_Tensor>:$index_operands, Optional<Index>:$depth, F64Attr:$scale,
                   DefaultValuedAttr<ArrayAttr, "{}">:$place, UnitAttr:$computes_place,
                   OptionalAttr<I64Attr>:$back,
                   OptionalAttr<AnyAttr>:$select, DefaultValuedAttr<ArrayAttr, "{}">:$mask,
                   DefaultValuedAttr<ArrayAttr, "{}">:$index_labels, F64Attr:$rate, Tenon_Site:$site,
                   OptionalAttr<I64Attr>:$drawn_at, OptionalAttr<AffineMapAttr>:$drawn_of,
                   OptionalAttr<AffineMapAttr>:$pair_batch);
  let results = (outs Tenon_RealTensor:$dquery, Tenon_RealTensor:$dkey, Tenon_RealTensor:$dvalue,
                 Optional<Tenon_RealTensor>:$dposition_query, Optional<Tenon_RealTensor>:$dtable,
                 Optional<Tenon_RealTensor>:$dselected_scores, Optional<Tenon_RealTensor>:$dscore_table,
                 Optional<Tenon_RealTensor>:$dvalue_table, Optional<Tenon_RealTensor>:$dposition_key,
                 Optional<Tenon_RealTensor>:$dkey_table, Optional<Tenon_RealTensor>:$dpair_scores);
  let regions = (region VariadicRegion<AnyRegion>:$code);
  let extraClassDeclaration = [{
    /// The region of the step, if there is one.
    ::llvm::MutableArrayRef<::mlir::Region> getStep() { return getCode().drop_back(getComputesPlace() ? 1 : 0); }
    /// The code of the place in the tables; null: it is a form.
    ::mlir::Region *getPlaceCode() { return getComputesPlace() ? &getCode().back() : nullptr; }
  }];
  let hasVerifier = 1;
}
#endif
