// What an op of the tensor form can say about itself: its elements, its gradient, its decomposition.
#ifndef TENON_INTERFACES_TD
#define TENON_INTERFACES_TD
include "mlir/IR/OpBase.td"

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    The value of one element of a result, as scalar code: the meaning of the op. Kernels are made by inlining these; the
    decomposed path of the tests evaluates nothing else.
  }];
  let methods = [
    InterfaceMethod<
      [{Emits scalar code for element `indices` (index values, one per result dimension) of result `result`.
        `read(tensor, indices)` gives an element of an operand: whether that is a load or inlined code is the caller's affair.}],
      "::mlir::Value", "buildElement",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$result, "::mlir::ValueRange":$indices, "::tenon::ElementReader":$read)>,
    InterfaceMethod<
      [{What it costs to compute one element once its operands' elements are there, in additions: fusion weighs it against memory.
        kCostOfRow: a pass over a whole row, so that the result always gets memory.}],
      "unsigned", "elementCost", (ins), "", [{ return 1; }]>,
    InterfaceMethod<
      "Whether result `result` has one element per row of the operand: it is computed once per row, before what reads it element "
      "by element.",
      "bool", "isRowResult", (ins "unsigned":$result), "", [{ return false; }]>,
    InterfaceMethod<
      "Whether an element of an operand is read for several elements of the result, so that computing it there repeats work.",
      "bool", "repeatsOperand", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      "Whether the result has more elements than memory is to be spent on: it is computed where it is read, however often, and "
      "what an element of it costs to compute is in memory instead.",
      "bool", "enlargesOperand", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      "Whether the elements of a row of the result, along the last dimension, read elements of one row of each operand of its "
      "rank, so that what the operand computes once per row is still computed once.",
      "bool", "keepsRows", (ins), "", [{ return ConcreteOp::template hasTrait<::tenon::Elementwise>(); }]>,
    InterfaceMethod<
      "Whether the operands must be the very numbers that others read (it tests them for being equal), not numbers computed "
      "once more.",
      "bool", "comparesExactly", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      [{The dimensions of the result that those of `operand`, a tensor, are, where each element of the result is made of one
        element of it, the one at these dimensions of its own indices. Nothing: of others, or the op does not say.}],
      "::std::optional<::llvm::SmallVector<int64_t>>", "dimsOf", (ins "::mlir::OpOperand &":$operand), "", [{
        if constexpr (ConcreteOp::template hasTrait<::tenon::Elementwise>())
          return ::tenon::dimsOfTensor(operand.get());
        return ::std::nullopt;
      }]>,
    InterfaceMethod<
      "The condition under which alone elements of `operand` are read. Nothing: they are in any case.",
      "::tenon::MaybeReading", "readingOf", (ins "::mlir::OpOperand &":$operand), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<
      [{Whether the reversed loop computes the result again (true) or loads it (false), where that is settled by what the op does
        to the size of an element. Nothing: what reads it decides.}],
      "::std::optional<bool>", "isMadeAgain", (ins), "", [{ return ::std::nullopt; }]>];
}

def RowOpInterface : OpInterface<"RowOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    An op some rows of whose results may be made alone: those at some places of a dimension are made of the same rows of the
    operands that have this dimension, and of all of the others, whatever else there is. Elementwise ops and views that ask
    nothing but their operands are such ops without it (`dimsOfRows` in Traits.h). An op that asks where its elements stand is
    none, but for what `buildFactor` gives, or `drawAt` tells it.
  }];
  let methods = [
    InterfaceMethod<
      [{The dimensions of the results that those of `operand`, a tensor, are. One that goes whole into each element, as one that
        is summed over, is a number that no result has as a dimension. Nothing: rows are not made of rows.}],
      "::std::optional<::llvm::SmallVector<int64_t>>", "dimsInResults", (ins "::mlir::OpOperand &":$operand), "", [{
        if constexpr (ConcreteOp::template hasTrait<::tenon::Elementwise>())
          return ::tenon::dimsOfTensor(operand.get());
        return ::std::nullopt;
      }]>,
    InterfaceMethod<
      "Whether the results are the same at all places of their dimension `dim`: then rows along it are made for nothing.",
      "bool", "repeatsAlong", (ins "int64_t":$dim), "", [{ return false; }]>,
    InterfaceMethod<
      [{All that it draws by where its elements stand, where the result is the first operand times that, element by element. Null:
        it draws nothing.}],
      "::mlir::Value", "buildFactor", (ins "::mlir::OpBuilder &":$builder), "", [{ return {}; }]>,
    InterfaceMethod<
      [{Whether `drawAt` can have rows along dimension `dim` of the results, an own list for each index of `batch`, draw what the
        whole draws there. An op that draws nothing, or all of it by `buildFactor`, can.}],
      "bool", "mayDrawAt", (ins "int64_t":$dim, "::llvm::ArrayRef<int64_t>":$batch), "", [{ return true; }]>,
    InterfaceMethod<
      [{The op is a copy for rows of a whole that has `size` along their dimension, and draws what stands at the places `at`
        there from now on. `dims`: which dimensions of the results those of `at` are, that of the rows last.}],
      "void", "drawAt",
      (ins "::mlir::Value":$at, "::llvm::ArrayRef<int64_t>":$dims, "::mlir::AffineMapAttr":$size), "", [{ return; }]>,
    InterfaceMethod<
      "Whether it takes so long that fewer rows are worth a loop of their own.",
      "bool", "takesLong", (ins), "", [{ return ConcreteOp::template hasTrait<::tenon::Contraction>(); }]>];
}

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    An op of the kernel form: it reads tensors in memory and writes its results to memory. The planner, the report and every
    target ask this and name no op.
  }];
  let methods = [
    InterfaceMethod<
      "The tensors it reads, in its regions too, each once.",
      "::llvm::SmallVector<::mlir::Value>", "tensorsRead", (ins), "", [{ return ::tenon::tensorOperands($_op); }]>,
    InterfaceMethod<
      [{The tensors over which result `result` may be written, if nobody reads them later: of each such tensor, an element is read
        before the element of the result at the same place is written, and not afterwards.}],
      "::llvm::SmallVector<::mlir::Value>", "overwritable", (ins "unsigned":$result), "", [{ return {}; }]>,
    InterfaceMethod<
      "The tensor that result `result` starts from (what is added is added onto it), or null. Lying at the result's place, none "
      "of its elements is moved.",
      "::mlir::Value", "startsFrom", (ins "unsigned":$result), "", [{ return {}; }]>,
    InterfaceMethod<
      [{Sizes of the index space whose points are computed independently of each other, by any order of the terms of each: what a
        target runs in parallel is these points or blocks of them. How it cuts them, and whether it cuts a point further (a sum
        in parts of a fixed order), is its own affair. Empty: one point.}],
      "::llvm::SmallVector<::mlir::AffineExpr>", "parallelDomain", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      [{Floating-point operations that the mathematics asks for: addition, multiplication, comparison for a maximum, exp and so on
        count 1 each, a fused multiply-add 2. Not counted: what is masked by position alone, and what is computed a second time to
        save memory.}],
      "::tenon::Polynomial", "countFlops", (ins "::tenon::FormulaSpace &":$space)>,
    InterfaceMethod<
      "Bytes that have to be read or written at least: each tensor once, of a gathered one only what is named.",
      "::tenon::Polynomial", "countBytes", (ins "::tenon::FormulaSpace &":$space), "",
      [{ return ::tenon::bytesOfTensors($_op, space); }]>,
    InterfaceMethod<
      "The operand that may lie in panels instead of row-major (Panels.h), as a matrix. Nothing: none may.",
      "::std::optional<::tenon::PanelRead>", "panelRead", (ins), "", [{ return ::std::nullopt; }]>];
}

def InnerLoopOpInterface : OpInterface<"InnerLoopOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    Scalar code of the kernel form that repeats its one region, along inner dimensions of a kernel: for what it stores, or, where
    it has a result, for one value.
  }];
  let methods = [InterfaceMethod<
    "The sizes of these dimensions; the last one is on the lanes.",
    "::mlir::AffineMap", "getSizes", (ins)>];
}

def DrawOpInterface : OpInterface<"DrawOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    A scalar that is drawn: a function of the seed and the step, besides its operands. Kernels with one in them read both.
  }];
  let methods = [
    InterfaceMethod<
      "Neighbours, from a multiple of so many on, whose numbers are those of the same evaluations.",
      "int64_t", "elementsOfBlock", (ins)>,
    InterfaceMethod<
      "Whether it says no more than what a training step leaves out: where nothing is left out, nothing hangs on it.",
      "bool", "leavesOut", (ins), "", [{ return false; }]>];
}

def MemoryOpInterface : OpInterface<"MemoryOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    An op that names memory which the planner does not give out: its result lies there, or is a part of another tensor, or it
    brings a tensor there. The planner and the schedule ask this and name no op; places of parameters are there once
    `tenon-place-parameters` has run.
  }];
  let methods = [
    InterfaceMethod<
      "Where the result lies. Nothing: it is a part, or there is none.",
      "::std::optional<::tenon::Buffer>", "placeOfResult", (ins), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<
      "What the result is a part of. Nothing: of no other tensor.",
      "::std::optional<::tenon::Part>", "partOf", (ins), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<
      "What it brings where. A value that is made for it is written there. Nothing: it reads.",
      "::std::optional<::tenon::Delivery>", "delivery", (ins), "", [{ return ::std::nullopt; }]>];
}

def ScheduleOpInterface : OpInterface<"ScheduleOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    An op of the schedule form besides kernels and loops: what names places and moves tensors. Checks, reports and groups of
    gradients ask this.
  }];
  let methods = [
    InterfaceMethod<
      "The places that it names, which have to be there.",
      "::llvm::SmallVector<::tenon::PlaceAttr>", "placesNamed", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "The one of these that it writes. Null: none.",
      "::tenon::PlaceAttr", "placeWritten", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "The type of what it moves, a row of reports. Null: nothing, there is no row.",
      "::mlir::RankedTensorType", "typeMoved", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "How often it reads or writes each element of that.",
      "int64_t", "touchesOfElement", (ins), "", [{ return 0; }]>,
    InterfaceMethod<
      "How many operations it takes for each, counted as those of kernels.",
      "int64_t", "flopsOfElement", (ins), "", [{ return 0; }]>];
}

def MixedPrecisionOpInterface : OpInterface<"MixedPrecisionOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    An op with a rule for mixed precision: it multiplies numbers of 16 bits and sums in the type that they are computed in, or it
    is a reduction. An op without it is computed in the type of the parameters. All its operands named here have one element type,
    and its results named here have it too.
  }];
  let methods = [
    InterfaceMethod<
      "The operands that may have 16 bits: the factors of its products.",
      "::llvm::SmallVector<::mlir::OpOperand *>", "narrowOperands", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "The results that then have 16 bits, too: what is rounded once when it is stored.",
      "::llvm::SmallVector<::mlir::OpResult>", "narrowResults", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "Whether `value`, an operand or a result, may have 16 bits where it is saved for the backward pass, although this op reads "
      "or makes more.",
      "bool", "isSavedNarrow", (ins "::mlir::Value":$value), "", [{ return false; }]>,
    InterfaceMethod<
      [{Whether it rounds of `operand`, one of those that may have 16 bits, the elements that it reaches itself, which are fewer
        than there are where a state is kept in place: then it is not rounded as a whole.}],
      "bool", "roundsWhatItReads", (ins "::mlir::OpOperand &":$operand), "", [{ return false; }]>,
    InterfaceMethod<
      "Whether it takes rounded numbers of an operand where a product rounds them anyway, so that these alone exist in memory.",
      "bool", "readsRounded", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      "Whether it is a sum or has sums in it, so that it is computed in the policy's `reduce`, with all its real operands and "
      "results. Of ops with the trait ReadsRows (softmax, normalizers, losses and their gradients) that is so anyway.",
      "bool", "isReduction", (ins), "", [{ return false; }]>];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{ Reverse-mode rule: the vector-Jacobian product of the op, stated in ops of this dialect. }];
  let methods = [InterfaceMethod<
    [{`resultGradients`: one value per result, null where none is demanded (at least one is there). Returns one gradient per
      operand, null for operands without one (integers, predicates). Forward operands and results may be used; what is used is
      saved by stacks.
      Empty after an error that the rule has emitted.}],
    "::llvm::SmallVector<::mlir::Value>", "buildVjp",
    (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGradients)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::tenon";
  let description = [{
    A fused op in simpler ops of this dialect: the slow and obviously right path, of the tests and of targets that have no kernel
    for it.
  }];
  let methods = [InterfaceMethod<
    "One value per result (null where the result has no use). Scalar code of the op goes on as that of `tenon.map`.",
    "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$builder)>];
}
#endif
