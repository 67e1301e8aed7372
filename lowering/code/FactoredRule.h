// The formulas of rules whose means of squares are taken apart (Shazeer and Stern 2018, algorithms 4 and 5): what the ingredients
// of such a rule compute. All values are f64, or vectors of it.
#pragma once
#include "dialect/OptimizeSettings.h"
#include "lowering/code/HostNumbers.h"

namespace tenon {

/// What the squares of this update count in their means: t^-beta2_decay.
mlir::Value factoredRest(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, mlir::Value updates, const LibraryCall &library);

class FactoredCode {
public:
  using Value = mlir::Value;
  /// `updates`: the number t of this update, from 1; `rest`: factoredRest. `element`: of the parameters.
  FactoredCode(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, mlir::Type element, Value updates, Value rest);

  /// The square of a gradient, and a mean of `count` squares from their sum.
  Value square(Value g);
  Value mean(Value squares, Value count);
  /// The fading mean with one more.
  Value faded(Value before, Value now);
  /// What is made of the means of a matrix before elements are met: of a row, and of a column.
  Value rowFactor(Value mean, Value meanOfRows);
  Value columnFactor(Value mean);
  /// Along which an element moves; of a matrix by the factors of its row and column.
  Value direction(Value g, Value rowFactor, Value columnFactor);
  Value direction(Value g, Value mean);

  /// Of a tensor of `count` numbers, from sums of squares.
  struct Sizes {
    Value scale; // of its numbers, which the rate is a part of
    Value ratio; // that, by how far directions are clipped
  };
  Sizes sizes(Value parameters, Value directions, Value count);
  /// Of this update.
  Value rate(Value scheduled);
  /// What stays of a parameter of that scale.
  Value kept(Value scheduled, Value scale, Value decay);

private:
  Value real(double value);
  Value like(Value value, Value other); // a scalar, as many times as `other` has numbers

  mlir::ImplicitLocOpBuilder &builder;
  OptimizeOp op;
  const schema::OptimizerForm &form;
  double eps;
  Value updates, beta2, rest2;
};

} // namespace tenon
