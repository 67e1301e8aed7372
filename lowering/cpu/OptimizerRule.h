// The formulas of tenon.optimize, for vectors of elements: what the ingredients of a rule compute.
#pragma once
#include "dialect/OptimizeSettings.h"
#include "lowering/cpu/Kernel.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tenon::cpu {

/// What is kept of an element; null where the rule keeps less.
struct ElementMoments {
  Value first, second;
};

/// The rule of one op, in the tile of a kernel: numbers of this step first, then elements. Values are vectors of the element type
/// unless said otherwise.
class RuleCode {
public:
  /// `rate` and `decay`, f64, are those of the tile's parameters.
  RuleCode(FunctionCode &code, OptimizeOp op, mlir::VectorType vector, Value rate, Value decay);

  /// The moments after gradient g of parameter p, and what the parameter moves along.
  struct Step {
    ElementMoments moments;
    Value direction;
  };
  Step step(Value p, Value g, ElementMoments before);
  /// Of a rule with moments, from the moments after the step.
  Value direction(Value p, ElementMoments moments);
  /// The direction whose norm is that of the ratio, where it is another one; else `direction`.
  Value comparedDirection(Value p, ElementMoments moments, Value direction);
  Value moved(Value p, Value direction);

private:
  Value real(double value);
  Value spread(Value scalar);
  Value spread(double value) { return spread(real(value)); }
  Value fading(double beta); // f64: 1 - beta^t
  Value momentum(Value g, Value before, Value &kept);

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  OptimizeOp op;
  mlir::VectorType vector;
  const schema::OptimizerRule &rule;
  const schema::OptimizerForm &form;
  Value updates;                               // f64: number of this update, from 1
  Value rates, decays, kept;                   // in all lanes: rate, decay, 1 - rate * decay
  Value firstScale, secondScale;               // of the moments; null: they are taken as they are
  Value beta1, rest1, beta2, rest2, eps, mass; // mass: of a fading sum
};

/// The ratio of a tensor from the norms (f64) of its parameters, directions and gradients.
Value trustRatio(ImplicitLocOpBuilder &builder, schema::Trust trust, Value parameters, Value directions, Value gradients,
                 Value decay);

} // namespace tenon::cpu
