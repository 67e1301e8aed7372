// tenon.gemm of bf16, f16 and tf32 by tensor cores: a block per tile of rows and columns, whose warps multiply 16 x 8 x 16
// elements at a time (of tf32, which is f32 until it is multiplied, 16 x 8 x 8), with sums of f32. Operands come by asynchronous
// copies into a ring of stages in shared memory, some steps of the depth ahead. Rows of memory that begin at no multiple of 4
// bytes are read into registers before the products of a step, and stored behind them; what is computed, the threads store
// element by element. Each sum is one chain of products in the order of the depth, some at a time, so that tiles change no bits.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/GemmTiles.h"
#include "lowering/gpu/TensorCores.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

constexpr int64_t kWarp = 32;

/// An operand's part of a stage: lines by steps of the depth, in the order of memory.
struct Operand {
  const GemmSide *side;
  int64_t lines, offset; // of the tile; elements from the start of a stage
  bool alongDepth;
  int64_t piece; // elements of one copy; 0: none, threads store them
  bool held;     // in chunks, which are neighbours in memory
  SharedTile tile;
};

class TensorGemmKernel {
public:
  TensorGemmKernel(const GemmForm &form, const GemmTile &tile, int64_t slices) : form(form), tile(tile), slices(slices) {
    operands[0] = operandOf(form.a, form.rows, tile.rows, 0);
    operands[1] = operandOf(form.b, form.columns, tile.columns, tile.rows * tile.depth);
  }

  LogicalResult generate(LaunchSequence &sequence) {
    const std::string name =
        (form.stored.isF32() ? "gemm_tf32_" : "gemm_") + std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
    Launch launch = form.launchOf(name, tile.rows, tile.columns, slices);
    launch.threads = tile.threads();
    launch.registers = tile.registers;
    launch.body = [this](KernelCode &code) { emitTile(code); };
    form.addLaunches(sequence, launch, slices);
    return success();
  }

private:
  int64_t stageElements() const { return (tile.rows + tile.columns) * tile.depth; }

  Operand operandOf(const GemmSide &side, const Labels &lines, int64_t count, int64_t offset) {
    const bool alongDepth = form.isAlongDepth(side);
    const Labels &inner = alongDepth ? form.depth : lines;
    int64_t piece = 0; // neighbours in the tile are neighbours in memory, and begin at a multiple of as many
    const bool isNear = side.tensor && !inner.empty() && !side.labels.empty() && inner.back() == side.labels.back();
    const int64_t aligned = isNear ? side.aligned(ofChunk) : 0;
    if (aligned * bytes >= 4 && !(side.isPadded && inner.size() > 1)) // else there is padding between neighbours in the tile
      piece = aligned;
    const bool held = aligned == 1 && piece == 0 && inner.size() == 1;
    const SharedTile order{(alongDepth ? tile.depth : count) / ofChunk, ofChunk, form.stored.isF32() && !alongDepth};
    return {&side, count, offset, alongDepth, piece, held, order};
  }

  /// Starts to bring the elements of the steps from `step` on into a stage. What lies outside of the product is 0.
  void issue(KernelCode &code, GemmCode &gemm, Value step, Value stage) {
    for (const Operand &operand : operands) {
      Value memory = elementAddress(code.builder, stage, form.stored, constant(code.builder, operand.offset));
      if (operand.piece > 0)
        issueCopies(code, gemm, operand, step, memory);
      else if (!operand.held)
        storeElements(code, gemm, operand, step, memory);
    }
  }

  Value firstLine(GemmCode &gemm, const Operand &operand) { return &operand == &operands[0] ? gemm.firstRow : gemm.firstColumn; }

  void issueCopies(KernelCode &code, GemmCode &gemm, const Operand &operand, Value step, Value memory) {
    auto &builder = code.builder;
    const int64_t chunks = operand.lines * tile.depth / ofChunk;
    auto issueOne = [&](Value number) {
      Value row = divide(builder, number, constant(builder, operand.tile.chunks)),
            chunk = remainder(builder, number, constant(builder, operand.tile.chunks));
      Value place = operand.tile.place(builder, row, chunk);
      for (int64_t part = 0; part < ofChunk; part += operand.piece) {
        Value along = add(builder, multiply(builder, chunk, constant(builder, ofChunk)), constant(builder, part));
        Value line = add(builder, firstLine(gemm, operand), operand.alongDepth ? row : along),
              k = add(builder, step, operand.alongDepth ? along : row);
        Value inside = gemm.isInside(*operand.side, line, k);
        Value from = arith::SelectOp::create(builder, inside, gemm.numberOf(*operand.side, line, k), constant(builder, 0));
        Value to = add(builder, place, constant(builder, part));
        to = elementAddress(builder, memory, form.stored, to);
        from = elementAddress(builder, code.pointer(operand.side->tensor), form.stored, from);
        if (!operand.side->isPadded)
          copyAsync(builder, to, from, bytes * operand.piece, inside);
        else
          copyPartAsync(builder, to, from, bytes * operand.piece,
                        bytesThere(code, operand, inside, operand.alongDepth ? k : line));
      }
    };
    for (int64_t first = 0; first < chunks; first += code.threads) {
      Value number = add(builder, code.thread(), constant(builder, first));
      if (first + code.threads <= chunks)
        issueOne(number);
      else
        code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, number, constant(builder, chunks)),
                    [&] { issueOne(number); });
    }
  }

  /// Of the copy of a row that may end in it: behind the end is what nobody wrote.
  Value bytesThere(KernelCode &code, const Operand &operand, Value inside, Value first) {
    auto &builder = code.builder;
    Value left = subtract(builder, code.size(sizesOf(operand.side->type).back()), first);
    Value some = multiply(builder, minimum(builder, left, constant(builder, operand.piece)), constant(builder, bytes));
    return arith::SelectOp::create(builder, inside, some, constant(builder, 0));
  }

  void storeElements(KernelCode &code, GemmCode &gemm, const Operand &operand, Value step, Value memory) {
    auto &builder = code.builder;
    Value inner = constant(builder, operand.tile.chunks * ofChunk), chunkSize = constant(builder, ofChunk);
    code.overBlock(constant(builder, operand.lines * tile.depth), [&](Value number) {
      Value along = remainder(builder, number, inner), row = divide(builder, number, inner);
      Value value = gemm.elementAt(*operand.side, add(builder, firstLine(gemm, operand), operand.alongDepth ? row : along),
                                   add(builder, step, operand.alongDepth ? along : row));
      Value place =
          add(builder, operand.tile.place(builder, row, divide(builder, along, chunkSize)), remainder(builder, along, chunkSize));
      LLVM::StoreOp::create(builder, value, elementAddress(builder, memory, form.stored, place), unsigned(bytes));
    });
  }

  int64_t chunksOf(const Operand &operand) const { return operand.lines * tile.depth / ofChunk; }

  /// Reads the block's chunks of a held operand from the steps from `step` on: a thread's, element by element.
  SmallVector<Value> loadHeld(KernelCode &code, GemmCode &gemm, const Operand &operand, Value step) {
    auto &builder = code.builder;
    const int64_t chunks = chunksOf(operand);
    SmallVector<Value> values;
    for (int64_t first = 0; first < chunks; first += code.threads) {
      Value number = minimum(builder, add(builder, code.thread(), constant(builder, first)), constant(builder, chunks - 1));
      Value across = constant(builder, operand.tile.chunks), row = divide(builder, number, across),
            along = multiply(builder, remainder(builder, number, across), constant(builder, ofChunk));
      auto lineAt = [&](int64_t i) {
        Value inside = operand.alongDepth ? row : add(builder, along, constant(builder, i));
        return add(builder, firstLine(gemm, operand), inside);
      };
      auto stepAt = [&](int64_t i) {
        return add(builder, step, operand.alongDepth ? add(builder, along, constant(builder, i)) : row);
      };
      Value whole = gemm.isInside(*operand.side, lineAt(ofChunk - 1), stepAt(ofChunk - 1));
      auto branch = scf::IfOp::create(builder, SmallVector<Type>(ofChunk, form.stored), whole, true);
      OpBuilder::InsertionGuard guard(builder);
      auto yield = [&](Block *block, llvm::function_ref<Value(int64_t)> element) {
        builder.setInsertionPointToStart(block);
        SmallVector<Value> elements;
        for (int64_t i = 0; i < ofChunk; ++i)
          elements.push_back(element(i));
        scf::YieldOp::create(builder, elements);
      };
      Value start;
      yield(branch.thenBlock(), [&](int64_t i) -> Value {
        if (i == 0)
          start = elementAddress(builder, code.pointer(operand.side->tensor), form.stored,
                                 gemm.numberOf(*operand.side, lineAt(0), stepAt(0)));
        return LLVM::LoadOp::create(builder, form.stored, elementAddress(builder, start, form.stored, constant(builder, i)),
                                    unsigned(bytes));
      });
      yield(branch.elseBlock(), [&](int64_t i) { return gemm.elementAt(*operand.side, lineAt(i), stepAt(i)); });
      llvm::append_range(values, branch.getResults());
    }
    return values;
  }

  void storeHeld(KernelCode &code, const Operand &operand, ArrayRef<Value> values, Value stage) {
    auto &builder = code.builder;
    const int64_t chunks = chunksOf(operand);
    Value memory = elementAddress(builder, stage, form.stored, constant(builder, operand.offset));
    for (int64_t first = 0; first < chunks; first += code.threads) {
      Value number = add(builder, code.thread(), constant(builder, first));
      Value chunk = LLVM::PoisonOp::create(builder, VectorType::get({ofChunk}, form.stored));
      for (int64_t i = 0; i < ofChunk; ++i)
        chunk = LLVM::InsertElementOp::create(builder, chunk, values[size_t(first / code.threads * ofChunk + i)],
                                              arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(i))));
      auto store = [&] {
        Value row = divide(builder, number, constant(builder, operand.tile.chunks)),
              place = operand.tile.place(builder, row, remainder(builder, number, constant(builder, operand.tile.chunks)));
        LLVM::StoreOp::create(builder, chunk, elementAddress(builder, memory, form.stored, place), 16);
      };
      if (first + code.threads <= chunks)
        store();
      else
        code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, number, constant(builder, chunks)), store);
    }
  }

  /// Of all held operands, one after the other; zeros where there are no such steps.
  SmallVector<Value> loadAllHeld(KernelCode &code, GemmCode &gemm, Value isThere, Value step) {
    auto &builder = code.builder;
    SmallVector<Value> all;
    for (const Operand &operand : operands) {
      if (!operand.held)
        continue;
      const int64_t count = llvm::divideCeil(chunksOf(operand), code.threads) * ofChunk;
      auto branch = scf::IfOp::create(builder, SmallVector<Type>(size_t(count), form.stored), isThere, true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(builder, loadHeld(code, gemm, operand, step));
      builder.setInsertionPointToStart(branch.elseBlock());
      Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(form.stored));
      scf::YieldOp::create(builder, SmallVector<Value>(size_t(count), zero));
      llvm::append_range(all, branch.getResults());
    }
    return all;
  }

  void storeAllHeld(KernelCode &code, ArrayRef<Value> values, Value stage) {
    for (const Operand &operand : operands)
      if (operand.held) {
        const size_t count = size_t(llvm::divideCeil(chunksOf(operand), code.threads) * ofChunk);
        storeHeld(code, operand, values.take_front(count), stage);
        values = values.drop_front(count);
      }
  }

  /// The sums after the steps of one stage; `rows`, `columns`: of the warp in the tile.
  SmallVector<Value> multiplyStage(KernelCode &code, Value stage, Value rows, Value columns, ValueRange before) {
    auto &builder = code.builder;
    SmallVector<Value> sums(before);
    Value lane = remainder(builder, code.thread(), constant(builder, kWarp));
    Value memory[2];
    for (int i = 0; i < 2; ++i)
      memory[i] = elementAddress(builder, stage, form.stored, constant(builder, operands[i].offset));
    auto load = [&](int which, Value lines, int64_t block, int64_t k) {
      const Operand &operand = operands[which];
      const FragmentPlace place{which == 0, operand.alongDepth};
      Value line = add(builder, lines, constant(builder, 16 * block));
      return form.stored.isF32()
                 ? loadRounded(builder, memory[which], operand.tile, place, lane, line, together * k)
                 : loadFragments(builder, form.stored, memory[which], operand.tile, place, lane, line, together * k);
    };
    for (int64_t k = 0; k < tile.depth / together; ++k) {
      SmallVector<SmallVector<Value, 4>> ofRows, ofColumns;
      for (int64_t i = 0; i < tile.warpRows / 16; ++i)
        ofRows.push_back(load(0, rows, i, k));
      for (int64_t j = 0; j < tile.warpColumns / 16; ++j)
        ofColumns.push_back(load(1, columns, j, k));
      for (int64_t i = 0; i < tile.warpRows / 16; ++i)
        for (int64_t j = 0; j < tile.warpColumns / 8; ++j) {
          MutableArrayRef<Value> own = MutableArrayRef(sums).slice(size_t(4 * (i * (tile.warpColumns / 8) + j)), 4);
          multiplyAccumulate(builder, form.stored, ofRows[size_t(i)],
                             ArrayRef(ofColumns[size_t(j / 2)]).slice(size_t(2 * (j % 2)), 2), own);
        }
    }
    return sums;
  }

  void emitTile(KernelCode &code) {
    auto &builder = code.builder;
    GemmCode gemm(form, code, tile.rows, tile.columns, slices);
    Value warp = divide(builder, code.thread(), constant(builder, kWarp)), across = constant(builder, tile.warpsAcross());
    Value warpRow = divide(builder, warp, across), warpColumn = remainder(builder, warp, across);
    Value ring = code.shared(form.stored, tile.stages * stageElements());
    auto stageAt = [&](Value number) {
      return elementAddress(builder, ring, form.stored, multiply(builder, number, constant(builder, stageElements())));
    };
    const int64_t ahead = tile.stages - 1;
    const auto [begin, steps] = gemm.steps(tile.depth);
    // A group of copies per stage, also where there is none to bring: the last but `ahead - 1` has then always arrived.
    auto isThere = [&, end = steps](Value number) {
      return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, number, end);
    };
    // What is held comes back, for the call of `storeHeld` behind it.
    auto bring = [&](Value number, Value stage) {
      Value step = multiply(builder, number, constant(builder, tile.depth));
      code.ifThen(isThere(number), [&] { issue(code, gemm, step, stageAt(stage)); });
      commitCopies(builder);
      return loadAllHeld(code, gemm, isThere(number), step);
    };
    auto storeHeld = [&](ArrayRef<Value> held, Value number, Value stage) {
      if (!held.empty())
        code.ifThen(isThere(number), [&] { storeAllHeld(code, held, stageAt(stage)); });
    };
    code.strided(constant(builder, 0), constant(builder, 1), constant(builder, ahead), [&, first = begin](Value stage) {
      Value number = add(builder, first, stage);
      storeHeld(bring(number, stage), number, stage);
    });
    Value zero = arith::ConstantOp::create(builder, builder.getF32FloatAttr(0));
    SmallVector<Value> carried(size_t(tile.warpRows * tile.warpColumns / kWarp), zero);
    carried.append({constant(builder, 0), constant(builder, ahead)}); // the stages that are multiplied and filled
    auto loop = scf::ForOp::create(builder, begin, steps, constant(builder, 1), carried);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ValueRange before = loop.getRegionIterArgs();
      Value full = before[before.size() - 2], free = before.back();
      waitForCopies(builder, ahead - 1);
      code.barrier(); // all have their copies, and have multiplied the stage before, which is filled now
      Value next = add(builder, loop.getInductionVar(), constant(builder, ahead));
      SmallVector<Value> held = bring(next, free);
      SmallVector<Value> after =
          multiplyStage(code, stageAt(full), multiply(builder, warpRow, constant(builder, tile.warpRows)),
                        multiply(builder, warpColumn, constant(builder, tile.warpColumns)), before.drop_back(2));
      storeHeld(held, next, free);
      for (Value stage : {full, free}) {
        Value behind = add(builder, stage, constant(builder, 1));
        Value isLast = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, behind, constant(builder, tile.stages));
        after.push_back(arith::SelectOp::create(builder, isLast, constant(builder, 0), behind));
      }
      scf::YieldOp::create(builder, after);
    }
    emitResults(code, gemm, loop.getResults().drop_back(2), warpRow, warpColumn, ring);
  }

  /// The sums go through the shared memory of the ring, the rows of warps beside each other at a time.
  void emitResults(KernelCode &code, GemmCode &gemm, ValueRange sums, Value warpRow, Value warpColumn, Value memory) {
    auto &builder = code.builder;
    const int64_t width = sumsWidth(tile.columns);
    code.strided(constant(builder, 0), constant(builder, 1), constant(builder, tile.warpsDown()), [&](Value down) {
      code.barrier(); // the memory was read before
      code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, warpRow, down), [&] {
        Value column = multiply(builder, warpColumn, constant(builder, tile.warpColumns));
        gemm.storeSums(sums, tile.warpColumns, constant(builder, 0), column, memory, width);
      });
      code.barrier();
      Value firstRow = add(builder, gemm.firstRow, multiply(builder, down, constant(builder, tile.warpRows)));
      gemm.emitResults(memory, width, firstRow, tile.warpRows, tile.columns, 2); // beside the sums of other warps
    });
  }

  const GemmForm &form;
  const GemmTile tile;
  const int64_t slices;
  const int64_t bytes = elementBytes(form.stored), ofChunk = 16 / bytes; // of an element; elements
  const int64_t together = form.stored.isF32() ? 8 : 16;                 // steps of the depth that are multiplied at a time
  Operand operands[2];
};

} // namespace

static constexpr llvm::StringLiteral kForm = "mma";

DictionaryAttr chooseTensorGemm(const GemmForm &form, const Chip &chip) {
  const bool isRounded = form.stored.isF32(); // to tf32
  if (DictionaryAttr choice = chip.hasWarpgroups && !isRounded ? chooseWarpgroupGemm(form) : DictionaryAttr())
    return choice;
  auto count = [&](const Labels &labels) { return nominalSize(form.sizeOf(labels)); };
  const auto [tile, slices] = chooseGemmTile(count(form.batch), count(form.rows), count(form.columns), count(form.depth));
  return makeChoice(GemmOp(form.op).getContext(), isRounded ? kRoundedForm : kForm,
                    {{"rows", tile.rows},
                     {"columns", tile.columns},
                     {"depth", isRounded ? tile.depth / 2 : tile.depth}, // as many bytes
                     {"warp_rows", tile.warpRows},
                     {"warp_columns", tile.warpColumns},
                     {"stages", tile.stages},
                     {"registers", tile.registers},
                     {"slices", slices}});
}

static ChoiceForm tileForm(llvm::StringRef name) {
  return {name,
          {{"rows", 16, 256, 1, true},
           {"columns", 16, 256, 1, true},
           {"depth", 16, 128, 1, true},
           {"warp_rows", 16, 64, 1, true},
           {"warp_columns", 16, 64, 1, true},
           {"stages", 2, 8},
           {"registers", 32, 255},
           {"slices", 1, kMostSlices}}};
}

ChoiceForm roundedForm() { return tileForm(kRoundedForm); }

LogicalResult generateTensorGemm(const GemmForm &form, LaunchSequence &sequence) {
  SmallVector<ChoiceForm> forms{tileForm(kForm)};
  if (sequence.chip.hasWarpgroups)
    forms.append({warpgroupForm(), pingPongForm()});
  FailureOr<Choice> choice = sequence.choiceOf(form.op, forms);
  if (failed(choice))
    return failure();
  if (choice->form() == kWarpgroupForm)
    return generateWarpgroupGemm(form, *choice, sequence);
  return choice->form() == kPingPongForm ? generatePingPongGemm(form, *choice, sequence)
                                         : generateTensorGemm(form, *choice, sequence);
}

LogicalResult generateTensorGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence) {
  GemmOp op = form.op;
  auto number = [&](StringRef name) { return *choice.number(name); };
  GemmTile tile{number("rows"),         number("columns"), number("depth"),     number("warp_rows"),
                number("warp_columns"), number("stages"),  number("registers"), 0};
  tile.shared = tile.stages * (tile.rows + tile.columns) * tile.depth * elementBytes(form.stored);
  const int64_t sums = tile.warpRows * sumsWidth(tile.columns) * 4; // lie in the memory of the stages
  if (tile.warpRows > tile.rows || tile.warpColumns > tile.columns || sums > tile.shared)
    return op->emitOpError("expects in ") << kChosen
                                          << " a warp inside of the tile, and stages with room for its sums, got " // S11
                                          << choice.attribute;
  if (failed(checkBlock(op, tile.threads(), tile.shared, kStaticShared, tile.registers)))
    return failure();
  return TensorGemmKernel(form, tile, number("slices")).generate(sequence);
}

} // namespace tenon::gpu
