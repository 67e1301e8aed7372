// Schedules of the learning rate: the formulas of tenon.optimize's documentation.
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/Optimizer.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace mlir;

namespace tenon::cpu {
namespace {

class Schedule {
public:
  Schedule(FunctionCode &code, OptimizeOp op) : code(code), builder(code.builder), op(op) {}

  Value factor(Value step) {
    if (!llvm::is_contained({"constant", "linear", "cosine", "noam", "bert_linear", "xlnet_linear"},
                            op.schedule())) // else it would be taken for another one
      llvm::report_fatal_error("the recipe schema says that the schedule " + op.schedule() + " works; it has no formula here");
    Value one = real(1);
    if (op.schedule() == "noam")
      return noam(step);
    readLengths();
    Value after = one;
    if (op.schedule() == "bert_linear") {
      after = sub(one, least(div(step, total), one)); // counts from step 0: jumps at the end of the warmup
    } else if (op.schedule() != "constant") {
      Value progress = least(div(sub(step, warmup), sub(total, warmup)), one), shape = sub(one, progress);
      if (op.schedule() == "cosine") {
        LLVM::LLVMFuncOp cosine = code.sequence.libraryFunction("cos", 1);
        Value wave = LLVM::CallOp::create(builder, cosine, ValueRange{mul(real(M_PI), progress)}).getResult();
        shape = mul(real(0.5), arith::AddFOp::create(builder, one, wave));
      }
      const double floor = op.number("floor", 0);
      after = arith::AddFOp::create(builder, real(floor), mul(real(1 - floor), shape));
    }
    if (!warms)
      return after;
    Value rising = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, step, warmup);
    return arith::SelectOp::create(builder, rising, div(step, warmup), after);
  }

private:
  Value noam(Value step) {
    Value t = arith::AddFOp::create(builder, step, real(1)), decay = div(real(1), math::SqrtOp::create(builder, t));
    Value rise = mul(t, real(std::pow(op.number("warmup", 0), -1.5)));
    return mul(real(op.number("factor", 1) / std::sqrt(op.number("size", 1))), least(decay, rise));
  }
  /// Numbers of the recipe, or made of the length that the runtime knows when it has seen the data; that length is at least 1.
  void readLengths() {
    warms = op.number("warmup", 0) > 0 || op.number("warmup_share", 0) > 0;
    warmup = real(op.number("warmup", 0));
    total = real(op.number("total", 1));
    if (!op.lengthAtStart())
      return;
    total = arith::UIToFPOp::create(builder, builder.getF64Type(), code.field(abi::TotalSteps));
    if (double share = op.number("warmup_share", 0); share > 0)
      warmup = math::FloorOp::create(builder, mul(real(share), total));
  }
  Value real(double value) { return arith::ConstantOp::create(builder, builder.getF64FloatAttr(value)); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, a, b); }
  Value least(Value a, Value b) {
    return arith::SelectOp::create(builder, arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, a, b), a, b);
  }

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  OptimizeOp op;
  Value warmup, total;
  bool warms = false;
};

} // namespace

Value scheduleFactor(FunctionCode &code, OptimizeOp op, Value step) { return Schedule(code, op).factor(step); }

} // namespace tenon::cpu
