# What the cases of invalid-attention*.mlir and invalid-attend.mlir share: operand segments (query, key, value, position_query, table, selected_scores, score_table,
# value_table, position_key, key_table, pair_scores, index operands, depth), settings and types. Longer words first.
s/QKVARGUMENTS/%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>/g
s/QKV/tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>/g
s/RESULTS/(tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)/
s/SETTINGS/rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64/
s/CONTENT/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>/
s/PAIRSCORES/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>/
s/SCORESINDEXED/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0>/
s/INDEXED/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>/
s/SCORES/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>/
s/SELECTED/operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0>/
s/POSITIONQUERY/operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>/
s/POSITION/operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>/
s/GRADIENT/operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>/
