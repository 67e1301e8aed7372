// What is known of an element type: its row in the table of types (runtime/base/DataType.h: bytes, names, what is computed in),
// and its registers. Of a class of types (computed as they are, of 16 bits) code asks here; of one type by its name where
// something takes that one alone: an instruction, a function of libm.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/base/DataType.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tenon {

struct ElementModel {
  runtime::DataType type; // its bytes and names are those of the runtime
  mlir::Type compute;     // of the registers that arithmetic is done in: f32 for bf16 and f16, else the type itself
  int64_t lanes; // virtual lanes of a row, the same everywhere: 64 bytes of reals that are computed in, 16 of anything else

  int64_t bytes() const { return int64_t(runtime::byteSize(type)); }
  llvm::StringRef name() const { return runtime::nameOf(type); }
};

/// Of a scalar type that tensors have: f64, f32, bf16, f16, i64, i32, i1;
/// i16 of remainders, i8 of truth values in memory.
ElementModel elementModel(mlir::Type element);
/// Its row in the table. None: no tensor has such elements.
std::optional<runtime::DataType> dataTypeOf(mlir::Type element);
/// Whether the table says so of the type, as `tableSays(element, runtime::isStoredReal)`.
inline bool tableSays(mlir::Type element, bool (*holds)(runtime::DataType)) {
  const std::optional<runtime::DataType> type = dataTypeOf(element);
  return type && holds(*type);
}
/// By the name that the model gives it, as specifications, recipes and manifests have it. Null: there is none.
mlir::Type elementNamed(llvm::StringRef name, mlir::MLIRContext *context);
inline int64_t elementBytes(mlir::Type element) { return elementModel(element).bytes(); }
/// Whether reals of this type are computed as they are; those of 16 bits are stored and widened.
inline bool isComputed(mlir::Type element) { return tableSays(element, runtime::isComputedReal); }
/// Whether reals of this type have 16 bits: bf16 or f16.
inline bool isShortReal(mlir::Type element) { return tableSays(element, runtime::isStoredReal); }
/// Whether it is computed in more digits than f32: f64.
inline bool isWideReal(mlir::Type element) { return tableSays(element, runtime::isWideReal); }
/// Whether it is the upper half of an f32: bf16.
inline bool isUpperHalf(mlir::Type element) { return tableSays(element, runtime::isUpperHalf); }
/// Whether gradients in it are scaled: f16.
inline bool needsScale(mlir::Type element) { return tableSays(element, runtime::needsScale); }
/// Numbers of which a step, or a tensor, has one (norms, learning rates, factors of an optimizer, losses) are f64 whatever they
/// are of: none is worth a rounding.
inline mlir::Type scalarReal(mlir::MLIRContext *context) { return mlir::Float64Type::get(context); }
/// A real, or a vector of them, in another element type; between 16 bits and what they are not computed in by way of f32.
mlir::Value convertReal(mlir::OpBuilder &builder, mlir::Location location, mlir::Value x, mlir::Type element);
/// The attribute of a module in mixed precision, whose contractions multiply in that type of 16 bits, and of a contraction that
/// multiplies in another one.
inline constexpr llvm::StringLiteral kCompute = "tenon.compute";
/// The type of 16 bits that a module in mixed precision multiplies in. Null: there is none.
mlir::Type narrowType(mlir::ModuleOp module);
/// The attribute of a module whose parameters of f32 lie in memory in that type of 16 bits, and in no other.
inline constexpr llvm::StringLiteral kParameters = "tenon.parameters";
/// Null: they lie there in their own type.
mlir::Type parameterType(mlir::ModuleOp module);
/// The attribute of such a module that has the f32 of a parameter in two halves: rounded to that type, and what rounding took,
/// which is of the type that the attribute says (i16).
inline constexpr llvm::StringLiteral kRemainders = "tenon.remainders";
mlir::Type remainderType(mlir::MLIRContext *context);
bool hasRemainders(mlir::ModuleOp module);
/// In which parameters of `element` lie in memory.
mlir::Type storedParameter(mlir::ModuleOp module, mlir::Type element);
/// The type of 16 bits that parameters of f32 have copies in, for contractions. Null: they have none.
mlir::Type copyType(mlir::ModuleOp module);
/// That of parameters of `element`.
mlir::Type copyType(mlir::ModuleOp module, mlir::Type element);
/// The type of 16 bits in which parameters of f32 can be read: their own in memory, or that of their copies. Null: there is none.
mlir::Type shortParameterType(mlir::ModuleOp module);
/// The type that a contraction multiplies in: of f32 its own (f32, bf16 or f16), else that of the module around it; f64 as it is.
mlir::Type computeType(mlir::Operation *contraction);
/// The attribute of a module whose sums, softmax, normalizers and losses are computed in that type (f64) and stored in theirs.
inline constexpr llvm::StringLiteral kReduce = "tenon.reduce";
/// Null: it has none.
mlir::Type reduceType(mlir::ModuleOp module);
/// `made` stands in the place of a contraction whose attribute kCompute was `own` (null: it had none).
template <typename OpTy> OpTy multiplyingIn(mlir::Attribute own, OpTy made) {
  if (own)
    made->setAttr(kCompute, own);
  return made;
}
/// While it lives, contractions that `builder` makes multiply in the type of `op`, which they are the gradient or the parts of.
class KeepCompute : public mlir::OpBuilder::Listener {
public:
  KeepCompute(mlir::OpBuilder &builder, mlir::Operation *op)
      : builder(builder), before(builder.getListener()), own(op->getAttr(kCompute)) {
    builder.setListener(this);
  }
  ~KeepCompute() override { builder.setListener(before); }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  mlir::OpBuilder &builder;
  mlir::OpBuilder::Listener *before;
  mlir::Attribute own;
};
/// The f32 of two halves, each i16 or a vector of them: the bits of the bf16 that it rounds to, ties away from zero, and what
/// that took, a signed number of its last places.
mlir::Value joinHalves(mlir::OpBuilder &builder, mlir::Location location, mlir::Value upper, mlir::Value remainder);
/// Bytes of a tensor over the dims.
mlir::AffineExpr tensorBytes(mlir::RankedTensorType type);

} // namespace tenon
