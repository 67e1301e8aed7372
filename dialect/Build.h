// Short forms for building tensor-form ops: used by gradient rules and decompositions.
#pragma once
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"

namespace tenon {

/// Builds ops at one place; every function returns the result. Shapes are those of the operands unless said.
class Build {
public:
  Build(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  mlir::Value constant(mlir::Type type, double value) {
    return ConstantOp::create(builder, location, type, builder.getF64FloatAttr(value));
  }
  mlir::Value zerosLike(mlir::Value x) { return constant(x.getType(), 0); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return AddOp::create(builder, location, a.getType(), a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return SubOp::create(builder, location, a.getType(), a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return MulOp::create(builder, location, a.getType(), a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return DivOp::create(builder, location, a.getType(), a, b); }
  mlir::Value scale(mlir::Value a, double factor) { return mul(a, constant(a.getType(), factor)); }
  mlir::Value neg(mlir::Value a) { return NegOp::create(builder, location, a.getType(), a); }
  template <typename OpTy> mlir::Value unary(mlir::Value a) { return OpTy::create(builder, location, a.getType(), a); }
  mlir::Value compare(Comparison kind, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b) {
    return SelectOp::create(builder, location, a.getType(), c, a, b);
  }
  mlir::Value convert(mlir::Value x, mlir::Type element);
  /// x's dimension k becomes dimension dims[k] of a tensor of `sizes`.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> dims, mlir::RankedTensorType type);
  /// x of all dimensions but the last, repeated along the last one of `type`.
  mlir::Value alongLast(mlir::Value x, mlir::RankedTensorType type);
  mlir::Value reduce(Reduction kind, mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value reduceLast(Reduction kind, mlir::Value x);
  mlir::Value dot(mlir::Value a, llvm::ArrayRef<int64_t> aLabels, mlir::Value b, llvm::ArrayRef<int64_t> bLabels,
                  mlir::RankedTensorType type);
  /// What scalar code yields, over whole tensors of the sizes of `space`: `code` takes an element of each input. Each value is a
  /// `tenon.map` of its own, with the part of the code that it needs; an input where it is one.
  llvm::SmallVector<mlir::Value> map(mlir::Block &code, mlir::ValueRange inputs, mlir::RankedTensorType space);
  /// A size of a tensor, as a scalar of `element` repeated over `type`.
  mlir::Value sizeLike(mlir::AffineExpr size, mlir::RankedTensorType type);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
};

inline mlir::RankedTensorType tensorOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
/// The type with other sizes removed: dimensions not in `dims`.
mlir::RankedTensorType withoutDims(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims);
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

} // namespace tenon
