// The formulas of tenon.optimize, for elements or vectors of them: what the ingredients of a rule compute.
#pragma once
#include "dialect/OptimizeSettings.h"
#include "lowering/code/HostNumbers.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tenon {

/// What is kept of an element; null where the rule keeps less.
struct ElementMoments {
  mlir::Value first, second;
};

/// Numbers of a step, f64; null where the rule asks for none.
struct RuleNumbers {
  mlir::Value updates;          // number of this update, from 1
  mlir::Value fading1, fading2; // 1 - beta1^t, 1 - beta2^t
};
/// `step`: i64, counts batches from 0.
RuleNumbers ruleNumbers(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, mlir::Value step, const LibraryCall &library);

/// The rule of one op, in a kernel: numbers of this step first, then elements. Values are of `type`, an element type or vectors
/// of it, unless said otherwise.
class RuleCode {
public:
  using Value = mlir::Value;
  /// `rate` and `decay`, f64, are those of the parameters that are updated.
  RuleCode(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, mlir::Type type, const RuleNumbers &numbers, Value rate,
           Value decay);

  /// The moments after gradient g of parameter p, and what the parameter moves along.
  struct Step {
    ElementMoments moments;
    Value direction;
  };
  Step step(Value p, Value g, ElementMoments before);
  /// Of a rule with two moments, from the moments after the step.
  Value direction(Value p, ElementMoments moments);
  /// The direction whose norm is that of the ratio, where it is another one; else `direction`.
  Value comparedDirection(Value p, ElementMoments moments, Value direction);
  Value moved(Value p, Value direction);

private:
  Value real(double value);
  Value spread(Value scalar);
  Value spread(double value) { return spread(real(value)); }
  Value momentum(Value g, Value before, Value &kept);
  Value faded(Value beta, Value before, Value rest, Value given); // beta * before + rest * given
  Value sign(Value x);
  Value rectification(const RuleNumbers &numbers); // a factor of the rate; sets isRectified

  mlir::ImplicitLocOpBuilder &builder;
  OptimizeOp op;
  mlir::Type type;
  const schema::OptimizerRule &rule;
  const schema::OptimizerForm &form;
  Value updates;                               // f64: number of this update, from 1
  Value rates, decays, kept;                   // rate, decay, 1 - rate * decay
  Value firstScale, secondScale;               // of the moments; null: they are taken as they are
  Value isRectified;                           // i1: the second moment has a part in the direction; null: always
  Value beta1, rest1, beta2, rest2, eps, mass; // mass: of a fading sum
};

/// The ratio of a tensor from the norms (f64) of its parameters, directions and gradients.
mlir::Value trustRatio(mlir::ImplicitLocOpBuilder &builder, schema::Trust trust, mlir::Value parameters, mlir::Value directions,
                       mlir::Value gradients, mlir::Value decay);

} // namespace tenon
