// tenon.sum_slices: the gradients of the slices of a batch, added up as a binary counter counts; a thread per element.
#include "lowering/artifact/Abi.h"
#include "lowering/gpu/ScalarCode.h"

using namespace mlir;

namespace tenon::gpu {

/// The partial sum of level 0 that belongs to a place in the arena of gradients.
static Value partialsOf(EntryCode &code, const Buffer &gradient) {
  auto &builder = code.builder;
  Type i64 = builder.getI64Type();
  Value offset = subtract(builder, LLVM::PtrToIntOp::create(builder, i64, code.address(gradient)),
                          LLVM::PtrToIntOp::create(builder, i64, code.arena(TN_ARENA_GRADS)));
  return byteAddress(builder, code.arena(TN_ARENA_SLICES), offset);
}

static void emitSums(KernelCode &code, Type element, int64_t elements, int64_t levels) {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  Value gradients = code.place(0), stride = code.number(1), adds = code.number(2), keep = code.number(3);
  auto partial = [&](Value level) { return byteAddress(builder, code.number(0), multiply(builder, level, stride)); };
  code.overGrid(constant(builder, elements), [&](Value number) {
    auto loop = scf::ForOp::create(builder, constant(builder, 0), constant(builder, levels), constant(builder, 1),
                                   scalars.load(element, gradients, number));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value level = loop.getInductionVar(), sum = loop.getRegionIterArgs()[0];
      Value bit = arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, adds, level), constant(builder, 1));
      Value isSet = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, bit, constant(builder, 0));
      auto branch = scf::IfOp::create(builder, TypeRange(element), isSet, true);
      builder.setInsertionPointToStart(branch.thenBlock());
      Value before = scalars.load(element, partial(level), number);
      scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, before, sum)});
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, ValueRange{sum});
      builder.setInsertionPointAfter(branch);
      scf::YieldOp::create(builder, ValueRange{branch.getResult(0)});
    }
    Value sum = loop.getResult(0);
    scalars.store(element, gradients, number, sum);
    code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, keep, constant(builder, 0)),
                [&] { scalars.store(element, partial(keep), number, sum); });
  });
}

void generateSumSlices(SumSlicesOp op, const Buffer &gradient, int64_t slices, LaunchSequence &sequence) {
  auto type = cast<RankedTensorType>(op.getOf());
  const int64_t elements = type.getNumElements(), levels = llvm::Log2_64_Ceil(uint64_t(std::max<int64_t>(slices, 1)));
  Type i64 = IntegerType::get(op.getContext(), 64), address = LLVM::LLVMPointerType::get(op.getContext(), kGlobal);
  Launch launch{"sum_slices", op.getLoc(), {}, {}, {{gradient}}, {}, {}, {}, 1, false, {}};
  auto field = [&](int64_t offset) { return Launch::Number{i64, [offset](EntryCode &code) { return code.field(offset); }}; };
  launch.numbers = {{address, [gradient](EntryCode &code) { return partialsOf(code, gradient); }},
                    field(abi::LevelStride),
                    field(abi::AddLevels),
                    field(abi::KeepLevel)};
  launch.threads = threadsFor(getAffineConstantExpr(elements, op.getContext()));
  // None where the gradient of this slice is all that there is.
  launch.blocks = [elements, threads = launch.threads](EntryCode &code) {
    auto &builder = code.builder;
    Value adds = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.field(abi::AddLevels), constant(builder, 0));
    Value keeps = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, code.field(abi::KeepLevel), constant(builder, 0));
    Value any = arith::ExtUIOp::create(builder, builder.getI64Type(), arith::OrIOp::create(builder, adds, keeps));
    return multiply(builder, any, blocksFor(code, constant(builder, elements), threads));
  };
  launch.body = [=](KernelCode &code) { emitSums(code, type.getElementType(), elements, levels); };
  sequence.add(launch);
}

} // namespace tenon::gpu
