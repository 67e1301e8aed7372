// tenon.scatter_add: the transpose of a gather. First dx gets what it starts from, then each thread takes the elements of dx at
// one place of all but the gathered dimension and adds the terms of dy in their order, so that no two threads meet. Where the
// index is the same for all places the gathered dimension is dealt out to groups of blocks, each of which looks at all of the
// index and adds the terms of its own elements.
#include "dialect/Refusal.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Blocks that are worth having, terms that a group is worth having for, how many terms a thread looks at before its block adds
/// those of its group, and how many of these at once.
constexpr int64_t kBlocks = 512, kTermsOfGroup = 64, kLookedAt = 4, kAtOnce = 4, kWarp = 32;

class ScatterAddKernel {
public:
  ScatterAddKernel(ScatterAddOp op, LaunchSequence &sequence)
      : op(op), sequence(sequence), dy(cast<RankedTensorType>(op.getDy().getType())),
        dx(cast<RankedTensorType>(op.getDx().getType())), index(cast<RankedTensorType>(op.getIndex().getType())),
        dySizes(sizesOf(dy)), dxSizes(sizesOf(dx)) {
    for (int64_t k = 0; k < dx.getRank(); ++k)
      if (k != int64_t(op.getDim()))
        outer.push_back(k);
    for (int64_t i = 0; i < dy.getRank(); ++i)
      if (!llvm::is_contained(op.getXDims(), i))
        summed.push_back(i);
  }

  LogicalResult generate() {
    if (Type element = dx.getElementType(); isShortReal(element) || dy.getElementType() != element)
      return notSupported(op) << "terms of " << elementModel(dy.getElementType()).name() << " added to elements of "
                              << elementModel(element).name() << " on a GPU";
    auto target = sequence.bufferOf(op.getDx());
    auto base = op.getBase() ? sequence.bufferOf(op.getBase()) : std::nullopt;
    if (!(target && base && base->samePlace(*target))) // else dx lies where the base lies
      addFill();
    Launch launch{"scatter_add", op.getLoc(), {op.getDy(), op.getIndex()}, {op.getDx()}, {}, {}, {}, {}, 1, false, {}};
    AffineExpr places = product(op.parallelDomain(), op.getContext());
    launch.threads = threadsFor(places);
    if (llvm::all_of(op.getIndexDims(), [&](int64_t dim) { return llvm::is_contained(summed, dim); }))
      return addGroups(launch, places);
    launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(places), threads); };
    launch.body = [this, places](KernelCode &code) {
      ScalarCode scalars(code, {});
      code.overGrid(code.size(places), [&](Value number) { emitPlace(code, scalars, number); });
    };
    sequence.add(launch);
    return success();
  }

private:
  AffineExpr terms() { return product(sizesAt(dySizes, summed), op.getContext()); }

  LogicalResult addGroups(Launch launch, AffineExpr places) {
    auto groups = [=, this, threads = launch.threads](EntryCode &code) {
      auto &builder = code.builder;
      Value useful = divide(builder, code.size(terms()), constant(builder, kTermsOfGroup));
      Value blocks = maximum(builder, blocksFor(code, code.size(places), threads), constant(builder, 1));
      Value room = divide(builder, constant(builder, kBlocks), blocks);
      return maximum(builder, minimum(builder, useful, room), constant(builder, 1));
    };
    launch.numbers = {{IntegerType::get(op.getContext(), 64), groups}};
    launch.blocks = [=, threads = launch.threads](EntryCode &code) {
      return multiply(code.builder, groups(code), blocksFor(code, code.size(places), threads));
    };
    launch.body = [this, places](KernelCode &code) {
      auto &builder = code.builder;
      ScalarCode scalars(code, {});
      Value groups = code.number(0), group = remainder(builder, code.block(), groups), size = constant(builder, code.threads);
      Value first = multiply(builder, divide(builder, code.block(), groups), size);
      Value step = multiply(builder, divide(builder, code.blocks(), groups), size), count = code.size(places);
      Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
      const Looked looked{code.shared(i64, kLookedAt * code.threads), code.shared(i32, kLookedAt * code.threads / kWarp), group,
                          groups};
      code.strided(first, step, count,
                   [&](Value number) { emitPlaces(code, scalars, looked, add(builder, number, code.thread()), count); });
    };
    sequence.add(launch);
    return success();
  }

  static SmallVector<AffineExpr> sizesAt(ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) { return sizes[size_t(dim)]; });
  }

  void addFill() {
    Launch launch{"scatter_start", op.getLoc(), {}, {op.getDx()}, {}, {}, {}, {}, 1, false, {}};
    if (op.getBase())
      launch.reads.push_back(op.getBase());
    AffineExpr count = product(dxSizes, op.getContext());
    launch.threads = threadsFor(count);
    launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(count), threads); };
    launch.body = [this, count](KernelCode &code) {
      ScalarCode scalars(code, {});
      Type element = dx.getElementType();
      Value zero = arith::ConstantOp::create(code.builder, code.builder.getZeroAttr(element));
      code.overGrid(code.size(count), [&](Value number) {
        scalars.store(element, code.pointer(op.getDx()), number,
                      op.getBase() ? scalars.load(element, code.pointer(op.getBase()), number) : zero);
      });
    };
    sequence.add(launch);
  }

  /// Indices of dx at the place of this number, and of dy as far as it has its dimensions.
  struct Place {
    SmallVector<Value> target, source;
  };
  Place placeOf(ScalarCode &scalars, Value number) {
    Place place{SmallVector<Value>(size_t(dx.getRank())), SmallVector<Value>(size_t(dy.getRank()))};
    for (auto [dim, at] : llvm::zip_equal(outer, scalars.split(number, sizesAt(dxSizes, outer))))
      place.target[size_t(dim)] = at;
    for (auto [k, dim] : llvm::enumerate(op.getXDims()))
      if (dim >= 0 && k != op.getDim())
        place.source[size_t(dim)] = place.target[k];
    return place;
  }
  void bindTerm(ScalarCode &scalars, Value term, SmallVector<Value> &source) {
    for (auto [dim, at] : llvm::zip_equal(summed, scalars.split(term, sizesAt(dySizes, summed))))
      source[size_t(dim)] = at;
  }

  void emitPlace(KernelCode &code, ScalarCode &scalars, Value number) {
    auto &builder = code.builder;
    Place place = placeOf(scalars, number);
    code.strided(constant(builder, 0), constant(builder, 1), code.size(terms()), [&](Value term) {
      bindTerm(scalars, term, place.source);
      place.target[op.getDim()] = target(code, scalars, place.source);
      addTerm(code, scalars, place, loadTerm(code, scalars, place));
    });
  }

  Value loadTerm(KernelCode &code, ScalarCode &scalars, const Place &place) {
    return scalars.load(dy.getElementType(), code.pointer(op.getDy()), scalars.linearIndex(dy, place.source));
  }
  void addTerm(KernelCode &code, ScalarCode &scalars, const Place &place, Value more) {
    Type element = dx.getElementType();
    Value to = scalars.linearIndex(dx, place.target);
    Value old = scalars.load(element, code.pointer(op.getDx()), to);
    scalars.store(element, code.pointer(op.getDx()), to, arith::AddFOp::create(code.builder, old, more));
  }

  /// What a block has of the terms that it looks at: where they go, and per warp a bit for each that is its group's.
  struct Looked {
    Value targets, masks, group, groups;
  };

  /// The place of each thread of a block, where there is one: the terms of the block's group.
  void emitPlaces(KernelCode &code, ScalarCode &scalars, const Looked &looked, Value number, Value count) {
    auto &builder = code.builder;
    const int64_t at = kLookedAt * code.threads, warps = at / kWarp;
    Type i32 = builder.getI32Type();
    Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, number, count);
    Place place = placeOf(scalars, number);
    code.strided(constant(builder, 0), constant(builder, at), code.size(terms()), [&](Value base) {
      SmallVector<std::pair<Value, Value>> own;
      for (int64_t k = 0; k < kLookedAt; ++k) {
        Value slot = add(builder, code.thread(), constant(builder, k * code.threads));
        own.push_back({slot, look(code, scalars, looked, base, slot)});
      }
      for (auto [slot, isOwn] : own)
        leaveMask(code, looked, slot, isOwn);
      code.barrier();
      code.strided(constant(builder, 0), constant(builder, 1), constant(builder, warps), [&](Value warp) {
        Value mask = LLVM::LoadOp::create(builder, i32, elementAddress(builder, looked.masks, i32, warp));
        code.ifThen(exists, [&] {
          overBits(code, mask, [&](ArrayRef<Bit> bits) { addTerms(code, scalars, looked, place, base, warp, bits); });
        });
      });
      code.barrier();
    });
  }

  struct Bit {
    Value number, isSet;
  };
  /// All terms are read before the first is added: rows that many tokens have would wait for memory each time.
  void addTerms(KernelCode &code, ScalarCode &scalars, const Looked &looked, Place place, Value base, Value warp,
                ArrayRef<Bit> bits) {
    auto &builder = code.builder;
    Type i64 = builder.getI64Type();
    SmallVector<std::pair<Value, Value>> terms; // where it goes, what it is
    for (const Bit &bit : bits) {
      Value slot = add(builder, multiply(builder, warp, constant(builder, kWarp)), bit.number);
      bindTerm(scalars, add(builder, base, slot), place.source);
      Value to = LLVM::LoadOp::create(builder, i64, elementAddress(builder, looked.targets, i64, slot));
      terms.push_back({to, loadTerm(code, scalars, place)});
    }
    for (auto [bit, term] : llvm::zip_equal(bits, terms)) {
      place.target[op.getDim()] = term.first;
      code.ifThen(bit.isSet, [&, more = term.second] { addTerm(code, scalars, place, more); });
    }
  }

  /// Leaves in shared memory where term base + slot goes; whether that is one of the group's elements. All loads are under way
  /// before the first ballot.
  Value look(KernelCode &code, ScalarCode &scalars, const Looked &looked, Value base, Value slot) {
    auto &builder = code.builder;
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    Value term = add(builder, base, slot), count = code.size(terms());
    SmallVector<Value> source(size_t(dy.getRank()));
    bindTerm(scalars, minimum(builder, term, subtract(builder, count, constant(builder, 1))), source);
    Value to = target(code, scalars, source);
    LLVM::StoreOp::create(builder, to, elementAddress(builder, looked.targets, i64, slot));
    auto word = [&](Value value) -> Value { return arith::TruncIOp::create(builder, i32, value); };
    Value rest = arith::RemUIOp::create(builder, word(to), word(looked.groups));
    Value own = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, rest, word(looked.group));
    Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, term, count);
    return arith::AndIOp::create(builder, exists, own);
  }

  void leaveMask(KernelCode &code, const Looked &looked, Value slot, Value isOwn) {
    auto &builder = code.builder;
    Type i32 = builder.getI32Type();
    Value all = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(-1)), size = constant(builder, kWarp);
    Value mask =
        LLVM::CallIntrinsicOp::create(builder, i32, builder.getStringAttr("llvm.nvvm.vote.ballot.sync"), ValueRange{all, isOwn})
            .getResult(0);
    Value isFirst =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, remainder(builder, code.thread(), size), constant(builder, 0));
    code.ifThen(isFirst, [&] {
      LLVM::StoreOp::create(builder, mask, elementAddress(builder, looked.masks, i32, divide(builder, slot, size)));
    });
  }

  /// Calls `body` with the numbers of the bits that are set, the lowest first, several at a time: behind the last one that of the
  /// first again, as not set.
  static void overBits(KernelCode &code, Value mask, llvm::function_ref<void(ArrayRef<Bit>)> body) {
    auto &builder = code.builder;
    Value zero = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0));
    Value one = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1));
    auto isSet = [&](Value left) -> Value { return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, left, zero); };
    auto loop = scf::WhileOp::create(builder, TypeRange(mask.getType()), ValueRange{mask});
    OpBuilder::InsertionGuard guard(builder);
    Block *before = builder.createBlock(&loop.getBefore(), {}, mask.getType(), builder.getLoc());
    scf::ConditionOp::create(builder, isSet(before->getArgument(0)), before->getArgument(0));
    Block *after = builder.createBlock(&loop.getAfter(), {}, mask.getType(), builder.getLoc());
    Value left = after->getArgument(0);
    SmallVector<Bit> bits;
    for (int64_t k = 0; k < kAtOnce; ++k) {
      Value number = arith::ExtUIOp::create(builder, builder.getI64Type(), math::CountTrailingZerosOp::create(builder, left));
      if (k > 0)
        number = arith::SelectOp::create(builder, isSet(left), number, bits.front().number);
      bits.push_back({number, isSet(left)});
      left = arith::AndIOp::create(builder, left, arith::SubIOp::create(builder, left, one));
    }
    body(bits);
    scf::YieldOp::create(builder, left);
  }

  /// The place along the gathered dimension that the index tensor names; clipped where the op says so.
  Value target(KernelCode &code, ScalarCode &scalars, ArrayRef<Value> source) {
    auto &builder = code.builder;
    SmallVector<Value> indices = llvm::map_to_vector(op.getIndexDims(), [&](int64_t dim) { return source[size_t(dim)]; });
    Value at = scalars.load(index.getElementType(), code.pointer(op.getIndex()), scalars.linearIndex(index, indices));
    if (!at.getType().isInteger(64))
      at = arith::ExtSIOp::create(builder, builder.getI64Type(), at);
    if (!op.getClamp())
      return at;
    Value last = subtract(builder, code.size(dxSizes[op.getDim()]), constant(builder, 1));
    return maximum(builder, minimum(builder, at, last), constant(builder, 0));
  }

  ScatterAddOp op;
  LaunchSequence &sequence;
  RankedTensorType dy, dx, index;
  SmallVector<AffineExpr> dySizes, dxSizes;
  SmallVector<int64_t> outer;  // other dimensions of dx
  SmallVector<int64_t> summed; // dimensions of dy that dx does not have
};

} // namespace

LogicalResult generateScatterAdd(ScatterAddOp op, LaunchSequence &sequence) { return ScatterAddKernel(op, sequence).generate(); }

} // namespace tenon::gpu
