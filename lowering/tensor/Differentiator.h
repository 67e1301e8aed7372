// Reverse mode over one function: what is known while its blocks are walked backwards.
#pragma once
#include "dialect/DepthForm.h"
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace tenon {

/// A loop of a forward pass that has been left: its depths `first` .. `first + count - 1`.
struct LeftLoop {
  mlir::BlockArgument depth; // of the forward loop, for the terms of `depths`
  int64_t first;
  mlir::AffineMap count; // a number: parameters lie there by depth
};

/// The gradient of what one `read_parameter` gives. In the loop of its last depth it is a slice; outside of that loop, where a
/// loop in between does not belong to the parameter, it is the slices of all depths of the loop, stacked in front.
struct ParameterGradient {
  mlir::StringAttr symbol;
  llvm::SmallVector<DepthForm> depths; // over the loops that have not been left and those that have
  llvm::SmallVector<LeftLoop> left;    // outermost first: the leading dimensions of `sum`
  mlir::Value sum;

  bool isOf(mlir::BlockArgument loop) const {
    return llvm::any_of(depths, [&](const DepthForm &form) {
      return llvm::any_of(form.terms, [&](const DepthForm::Term &term) { return term.argument == loop; });
    });
  }
  /// Whether two gradients are of the same slices: the loops that were left run over the same depths, whichever they were.
  bool isLike(const ParameterGradient &other) const {
    auto sameLoop = [](const LeftLoop &a, const LeftLoop &b) { return a.first == b.first && a.count == b.count; };
    if (symbol != other.symbol || depths.size() != other.depths.size() || !llvm::equal(left, other.left, sameLoop))
      return false;
    auto renamed = [&](DepthForm form) {
      for (DepthForm::Term &term : form.terms)
        for (auto [from, to] : llvm::zip(other.left, left))
          if (term.argument == from.depth) {
            term.argument = to.depth;
            break;
          }
      return form;
    };
    return llvm::all_of_zip(depths, other.depths, [&](const DepthForm &a, const DepthForm &b) { return a == renamed(b); });
  }
};

/// The gradient of what a loop reads of `x` at its place, where x is from outside of it.
struct SliceGradient {
  mlir::Value x, sum;
};

/// Gradients of the values of one block while it is walked backwards, and of the parameters and slices read in it.
struct Gradients {
  llvm::DenseMap<mlir::Value, mlir::Value> of;
  llvm::SmallVector<ParameterGradient> parameters;
  llvm::SmallVector<SliceGradient> slices;

  /// The sum of what is of the same slices as `gradient`.
  mlir::Value &ofParameter(const ParameterGradient &gradient) {
    for (ParameterGradient &known : parameters)
      if (known.isLike(gradient))
        return known.sum;
    parameters.push_back(gradient);
    parameters.back().sum = {};
    return parameters.back().sum;
  }
};

/// Whether it has gradients: indices and truths have none.
bool isRealTensor(mlir::Value value);

class ReversedStack; // of DifferentiateLoops.cpp

/// Appends the gradients of what an entry seeds to the function.
class Differentiator {
public:
  Differentiator(mlir::func::FuncOp function, bool saveOperands) : function(function), saveOperands(saveOperands) {}
  mlir::LogicalResult run();

private:
  void findActive(mlir::Block &block);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  void accumulate(Gradients &gradients, mlir::Value value, mlir::Value gradient, mlir::OpBuilder &builder);
  /// Walks `block` backwards, building at `builder`.
  mlir::LogicalResult walk(mlir::Block &block, Gradients &gradients, mlir::OpBuilder &builder);
  mlir::LogicalResult differentiate(mlir::Operation *op, Gradients &gradients, mlir::OpBuilder &builder);
  mlir::LogicalResult differentiateSlice(AtDepthOp slice, Gradients &gradients, mlir::OpBuilder &builder);
  llvm::SetVector<mlir::Value> activeCaptures(StackOp stack);
  void startReverse(StackOp stack, llvm::ArrayRef<unsigned> realCarries, const llvm::SetVector<mlir::Value> &captured,
                    Gradients &gradients, ReversedStack &reversed, Gradients &inner, mlir::OpBuilder &inside);
  mlir::LogicalResult fillReverse(StackOp stack, llvm::ArrayRef<unsigned> realCarries,
                                  const llvm::SetVector<mlir::Value> &captured, Gradients &gradients, ReversedStack &reversed,
                                  Gradients &inner, mlir::OpBuilder &inside);
  mlir::LogicalResult differentiateStack(StackOp stack, Gradients &gradients, mlir::OpBuilder &builder);
  void writeParameters(Gradients &gradients, mlir::OpBuilder &builder);
  void writeByDepth(const ParameterGradient &gradient, mlir::OpBuilder &builder);
  void hoistSlices();
  void freezeTheRest();
  mlir::Value seed(OutputOp loss, mlir::OpBuilder &builder);
  double constantScale();

  mlir::func::FuncOp function;
  const bool saveOperands;            // see makeAvailable
  llvm::DenseSet<mlir::Value> active; // values that a trained parameter reaches
  llvm::StringSet<> trained;
  llvm::SmallVector<mlir::Value> depths,
      forwardDepths; // depth arguments of the reversed bodies under construction, outermost first, and of theirs
};

} // namespace tenon
