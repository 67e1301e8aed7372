// A plugin of tenon-opt: what an op of another dialect has to say to be differentiated, fused, saved, planned, reported and
// turned into code.
#include "dialect/Build.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"
#include "lowering/gpu/Generators.h"
#include "lowering/gpu/ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

#include "DemoDialect.h.inc"
#define GET_OP_CLASSES
#include "DemoDialect.cpp.inc"
#include "DemoOps.h.inc"
#define GET_OP_CLASSES
#include "DemoOps.cpp.inc"

using namespace mlir;
using namespace tenon;

void demo::DemoDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "DemoOps.cpp.inc"
      >();
}

Value demo::SoftsignOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value x = read(getX(), indices);
  Value one = arith::ConstantOp::create(builder, getLoc(), builder.getFloatAttr(cast<FloatType>(x.getType()), 1));
  Value size = math::AbsFOp::create(builder, getLoc(), x);
  return arith::DivFOp::create(builder, getLoc(), x, arith::AddFOp::create(builder, getLoc(), one, size));
}

/// dy / (1 + |x|)^2.
SmallVector<Value> demo::SoftsignOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  Build g(builder, getLoc());
  Value below = g.add(g.constant(getX().getType(), 1), g.unary<AbsOp>(getX()));
  return {g.div(resultGradients[0], g.mul(below, below))};
}

Value demo::TiltOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value x = read(getX(), indices);
  Value two = arith::ConstantIndexOp::create(builder, getLoc(), 2), none = arith::ConstantIndexOp::create(builder, getLoc(), 0);
  Value rest = arith::RemUIOp::create(builder, getLoc(), indices.front(), two);
  Value isEven = arith::CmpIOp::create(builder, getLoc(), arith::CmpIPredicate::eq, rest, none);
  Value zero = arith::ConstantOp::create(builder, getLoc(), builder.getZeroAttr(x.getType()));
  return arith::SelectOp::create(builder, getLoc(), isEven, x, zero);
}
/// tilt(tilt(x)) = tilt(x).
LogicalResult demo::TiltOp::canonicalize(TiltOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<TiltOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "no tilted operand");
  rewriter.replaceOp(op, inner);
  return success();
}
/// Adding and subtracting 1.5 * 2^22 leaves halves.
Value demo::HalvesOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value x = read(getX(), indices);
  Value large = arith::ConstantOp::create(builder, getLoc(), builder.getFloatAttr(cast<FloatType>(x.getType()), 6291456));
  return arith::SubFOp::create(builder, getLoc(), arith::AddFOp::create(builder, getLoc(), x, large), large);
}

SmallVector<Value> demo::MirrorOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  return {demo::MirrorOp::create(builder, getLoc(), getY().getType(), resultGradients[0])};
}
SmallVector<AffineExpr> demo::MirrorOp::parallelDomain() { return sizesOf(tensorOf(getY())); }
Polynomial demo::MirrorOp::countFlops(FormulaSpace &) { return 0; }

namespace {

/// A tile is a row. What the compiler refuses: with `demo.short` tiles without a column, with `demo.tall` one too many, with
/// `demo.none` some that do not say what they are.
struct MirrorKernel : cpu::CpuKernelOpInterface::ExternalModel<MirrorKernel, demo::MirrorOp> {
  LogicalResult generate(Operation *op, cpu::KernelSequence &sequence) const {
    auto mirror = cast<demo::MirrorOp>(op);
    Value x = mirror.getX(), y = mirror.getY();
    Type element = tensorOf(y).getElementType();
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(y));
    AffineExpr width = sizes.pop_back_val(), rows = product(sizes, op->getContext());
    cpu::Kernel kernel{"mirror", op->getLoc(), {x}, {y}, {}, {}, 0, {}, {}};
    const int64_t all = std::numeric_limits<int64_t>::max();
    if (!op->hasAttr("demo.none"))
      kernel.cut = {{rows, 1}, {op->hasAttr("demo.short") ? width - 1 : width, all}};
    AffineExpr tiles = op->hasAttr("demo.tall") ? rows + 1 : rows;
    kernel.tiles = [=](cpu::FunctionCode &code) { return code.size(tiles); };
    kernel.body = [=](cpu::FunctionCode &code) {
      ImplicitLocOpBuilder &builder = code.builder;
      Value count = code.size(width), first = multiply(builder, code.tile, count);
      cpu::forLoop(builder, constant(builder, 0), count, [&](Value i) {
        Value last = subtract(builder, subtract(builder, count, constant(builder, 1)), i);
        Value number =
            LLVM::LoadOp::create(builder, element, elementAddress(builder, code.pointer(x), element, add(builder, first, last)));
        LLVM::StoreOp::create(builder, number, elementAddress(builder, code.pointer(y), element, add(builder, first, i)));
      });
    };
    sequence.add(kernel);
    return success();
  }
};

/// A thread is an element.
struct MirrorLaunch : gpu::GpuKernelOpInterface::ExternalModel<MirrorLaunch, demo::MirrorOp> {
  LogicalResult generate(Operation *op, gpu::LaunchSequence &sequence) const {
    auto mirror = cast<demo::MirrorOp>(op);
    Value x = mirror.getX(), y = mirror.getY();
    Type element = tensorOf(y).getElementType();
    AffineExpr width = sizesOf(tensorOf(y)).back(), total = product(mirror.parallelDomain(), op->getContext());
    gpu::Launch launch{"mirror", op->getLoc(), {x}, {y}, {}, {}, {}, {}, gpu::threadsFor(total), false, {}};
    launch.blocks = [=, threads = launch.threads](gpu::EntryCode &code) {
      return gpu::blocksFor(code, code.size(total), threads);
    };
    launch.body = [=](gpu::KernelCode &code) {
      ImplicitLocOpBuilder &builder = code.builder;
      gpu::ScalarCode scalars(code, {});
      code.overGrid(code.size(total), [&](Value number) {
        Value count = code.size(width), place = remainder(builder, number, count), first = subtract(builder, number, place);
        Value last = subtract(builder, subtract(builder, count, constant(builder, 1)), place);
        scalars.store(element, code.pointer(y), number, scalars.load(element, code.pointer(x), add(builder, first, last)));
      });
    };
    sequence.add(launch);
    return success();
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "demo", "1", [](DialectRegistry *registry) {
            registry->insert<demo::DemoDialect>();
            registry->addExtension(+[](MLIRContext *context, demo::DemoDialect *) {
              demo::MirrorOp::attachInterface<MirrorKernel, MirrorLaunch>(*context);
            });
          }};
}
