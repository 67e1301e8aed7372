// What an op of the tensor form can say about itself: its elements, its gradient, its decomposition.
#ifndef TENON_INTERFACES_TD
#define TENON_INTERFACES_TD
include "mlir/IR/OpBase.td"

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    The value of one element of a result, as scalar code: the meaning of the op. Kernels are made by inlining these; the decomposed path of the
    tests evaluates nothing else.
  }];
  let methods = [InterfaceMethod<
    [{Emits scalar code for element `indices` (index values, one per result dimension) of result `result`. `read(tensor, indices)` gives
      an element of an operand: whether that is a load or inlined code is the caller's affair.}],
    "::mlir::Value", "buildElement",
    (ins "::mlir::OpBuilder &":$builder, "unsigned":$result, "::mlir::ValueRange":$indices, "::tenon::ElementReader":$read)>];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{ Reverse-mode rule: the vector-Jacobian product of the op, stated in ops of this dialect. }];
  let methods = [InterfaceMethod<
    [{`resultGradients`: one value per result, null where none is demanded (at least one is there). Returns one gradient per operand, null for
      operands without one (integers, predicates). Forward operands and results may be used; what is used is saved by stacks.
      Empty after an error that the rule has emitted.}],
    "::llvm::SmallVector<::mlir::Value>", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGradients)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{ A fused op in simpler ops of this dialect: the slow and obviously right path, used by the tests. }];
  let methods = [InterfaceMethod<
    "One value per result (null where the result has no use).",
    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}
#endif
