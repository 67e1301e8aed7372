#ifndef TENON_LOWERING_CPU_EMITTER_H
#define TENON_LOWERING_CPU_EMITTER_H

#include "lowering/artifact/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <optional>

/// What the CPU generators emit by: the arithmetic and addresses of lowering/artifact/Scalars.h in fewer words, loops, branches
/// and 1-D vector access.
namespace tenon::cpu {

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  mlir::Value constant(int64_t value) { return tenon::constant(here(), value); }
  mlir::Value flag(bool value) { return mlir::arith::ConstantOp::create(builder, location, builder.getBoolAttr(value)); }

  mlir::Value add(mlir::Value a, mlir::Value b) { return tenon::add(here(), a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return tenon::subtract(here(), a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return tenon::multiply(here(), a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return tenon::divide(here(), a, b); }
  mlir::Value rem(mlir::Value a, mlir::Value b) { return tenon::remainder(here(), a, b); }
  mlir::Value min(mlir::Value a, mlir::Value b) { return tenon::minimum(here(), a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) { return tenon::maximum(here(), a, b); }
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, constant(b)); }
  mlir::Value sub(mlir::Value a, int64_t b) { return sub(a, constant(b)); }
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, constant(b)); }
  mlir::Value div(mlir::Value a, int64_t b) { return div(a, constant(b)); }
  mlir::Value min(mlir::Value a, int64_t b) { return min(a, constant(b)); }
  mlir::Value max(mlir::Value a, int64_t b) { return max(a, constant(b)); }
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b) { return tenon::ceilDivide(here(), a, b); }
  mlir::Value ceilDiv(mlir::Value a, int64_t b) { return ceilDiv(a, constant(b)); }
  mlir::Value roundUp(mlir::Value a, int64_t b) { return mul(ceilDiv(a, b), b); }

  mlir::Value less(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpIPredicate::slt, a, b); }
  mlir::Value lessEqual(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpIPredicate::sle, a, b); }
  mlir::Value equal(mlir::Value a, mlir::Value b) { return compare(mlir::arith::CmpIPredicate::eq, a, b); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) {
    return builder.createOrFold<mlir::arith::CmpIOp>(location, predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return builder.createOrFold<mlir::arith::SelectOp>(location, condition, a, b);
  }

  static std::optional<int64_t> constantOf(mlir::Value value) { return asConstant(value); }

  /// Address of element `index` (i64) behind `pointer`.
  mlir::Value at(mlir::Value pointer, mlir::Type element, mlir::Value index) {
    return elementAddress(here(), pointer, element, index);
  }
  mlir::Value at(mlir::Value pointer, mlir::Type element, int64_t index) {
    return index == 0 ? pointer : at(pointer, element, constant(index));
  }

  mlir::Value zero(mlir::VectorType type) {
    return mlir::arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
  }
  mlir::Value load(mlir::Type type, mlir::Value pointer, unsigned alignment) {
    return mlir::LLVM::LoadOp::create(builder, location, type, pointer, alignment);
  }
  void store(mlir::Value value, mlir::Value pointer, unsigned alignment) {
    mlir::LLVM::StoreOp::create(builder, location, value, pointer, alignment);
  }
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> mask) {
    return mlir::vector::ShuffleOp::create(builder, location, a, b, mask);
  }

  /// vector<lanes x i1> with the first `count` lanes set; `count` (i64) may lie outside [0, lanes].
  mlir::Value firstLanes(mlir::Value count, int64_t lanes) {
    mlir::Value clamped = max(min(count, lanes), static_cast<int64_t>(0));
    mlir::Type narrow = builder.getI32Type();
    mlir::Value limit = builder.createOrFold<mlir::arith::TruncIOp>(location, narrow, clamped);
    auto type = mlir::VectorType::get({lanes}, narrow);
    llvm::SmallVector<int32_t> numbers;
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers.push_back(static_cast<int32_t>(lane));
    mlir::Value indices = mlir::arith::ConstantOp::create(builder, location, mlir::DenseIntElementsAttr::get(type, numbers));
    mlir::Value limits = mlir::vector::BroadcastOp::create(builder, location, type, limit);
    return mlir::arith::CmpIOp::create(builder, location, mlir::arith::CmpIPredicate::slt, indices, limits);
  }

  /// scf.for over i64 [lower, upper) without results; `body(index)` emits the body.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step, llvm::function_ref<void(mlir::Value)> body) {
    auto op = mlir::scf::ForOp::create(builder, location, lower, upper, constant(step));
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
  }

  /// scf.if without results; a constant condition emits its branch only.
  void branch(mlir::Value condition, llvm::function_ref<void()> whenTrue, llvm::function_ref<void()> whenFalse = {}) {
    if (std::optional<int64_t> known = constantOf(condition)) {
      if (*known != 0)
        whenTrue();
      else if (whenFalse)
        whenFalse();
      return;
    }
    auto op = mlir::scf::IfOp::create(builder, location, condition, static_cast<bool>(whenFalse));
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.thenBlock());
    whenTrue();
    if (whenFalse) {
      builder.setInsertionPointToStart(op.elseBlock());
      whenFalse();
    }
  }

  mlir::Type pointerType() { return tenon::pointer(here()); }
  EmitAt here() { return {builder, location}; }

  mlir::OpBuilder &builder;
  mlir::Location location;
};

/// The function `name` of the module around `builder`'s insertion point. A new one is private, internal, never inlined (one copy
/// per module bounds code size and compile time) and `body(emitter, arguments)` fills it, unless the module takes it from the
/// library (KernelLibrary.h): the name stands for the code.
mlir::func::FuncOp getOrCreateKernel(mlir::OpBuilder &builder, mlir::Location location, llvm::StringRef name,
                                     llvm::ArrayRef<mlir::Type> arguments,
                                     llvm::function_ref<void(Emitter &, mlir::ValueRange)> body);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_EMITTER_H
