// What an op of the tensor form says about itself besides its interfaces: fusion, saving and recomputing ask these and name no
// op. An op of another dialect that carries them is treated like one of this.
#pragma once
#include "dialect/Formula.h"
#include "mlir/IR/OpDefinition.h"

namespace tenon {

/// elementCost of an op whose elements each take a pass over a row of the operand.
inline constexpr unsigned kCostOfRow = 1000;

/// Has no operand that is a tensor, or addresses of parameters alone: computed where it is read.
template <typename Op> struct ElementSource : mlir::OpTrait::TraitBase<Op, ElementSource> {};
/// The elements of its operand at other places: nothing is computed.
template <typename Op> struct View : mlir::OpTrait::TraitBase<Op, View> {};
/// Each element is one of the operands' at another place, or 0: a copy, which a contraction makes where it packs an operand.
template <typename Op> struct Moves : mlir::OpTrait::TraitBase<Op, Moves> {};
/// Its result lies where something else lies (a parameter, a state, a slice of a value in memory): nothing is computed or stored.
template <typename Op> struct Address : mlir::OpTrait::TraitBase<Op, Address> {};
/// An element of the result is made of the elements of the operands at the same indices.
template <typename Op> struct Elementwise : mlir::OpTrait::TraitBase<Op, Elementwise> {};
/// And of nothing else (no random numbers, no depth), and differentiated as it stands: functions made of such ops may be taken
/// apart and put together again, and computed for some rows alone.
template <typename Op> struct ElementFormula : mlir::OpTrait::TraitBase<Op, ElementFormula> {};
/// Reads an operand several times along rows, which it sums: what is expensive to compute again exists in memory before, and the
/// policy's `reduce` says in which type it is computed.
template <typename Op> struct ReadsRows : mlir::OpTrait::TraitBase<Op, ReadsRows> {};
/// A sum over a whole index space for each element: a kernel of its own, never computed where it is read.
template <typename Op> struct Contraction : mlir::OpTrait::TraitBase<Op, Contraction> {};
/// Its elements are functions of their places and of the dims: known before there are data.
template <typename Op> struct OfPlaces : mlir::OpTrait::TraitBase<Op, OfPlaces> {};
/// Gives what it reads and takes no gradient there.
template <typename Op> struct StopsGradient : mlir::OpTrait::TraitBase<Op, StopsGradient> {};
/// A kernel whose results are stored by `tenon.put` in its first region: what nobody reads of them goes with its puts.
template <typename Op> struct PutsResults : mlir::OpTrait::TraitBase<Op, PutsResults> {};
/// Changes parameters: what stands before it in a step are the gradients, and it and the rest the update.
template <typename Op> struct UpdatesParameters : mlir::OpTrait::TraitBase<Op, UpdatesParameters> {};
/// Of the schedule form alone: it names places.
template <typename Op> struct OfSchedule : mlir::OpTrait::TraitBase<Op, OfSchedule> {};
/// What it reads in the forward pass exists in memory anyway, so that the reversed loop loads it instead of computing it again.
template <typename Op> struct ReadsMemory : mlir::OpTrait::TraitBase<Op, ReadsMemory> {};

/// The operands of an op that are tensors, each once.
llvm::SmallVector<mlir::Value> tensorOperands(mlir::Operation *op);
/// Tensors whose reads in the code of a kernel are all at the very indices at which the result is put, and before it is put.
llvm::SmallVector<mlir::Value> readInFrontOfPut(mlir::Operation *kernel, unsigned result);
/// Whether it computes scalars of scalars alone (depths, sizes, sums of them): code beside the kernels, which repeat it.
bool isScalarCode(mlir::Operation *op);
/// The dimensions of a tensor, in order.
llvm::SmallVector<int64_t> dimsOfTensor(mlir::Value tensor);
/// RowOpInterface::dimsInResults of the op that has this operand, a tensor. Of an op without the interface: that of a formula, or
/// of a view, that says which element an element is made of. Nothing: rows of its results are not made of rows.
std::optional<llvm::SmallVector<int64_t>> dimsOfRows(mlir::OpOperand &operand);
/// Elements and bytes of a tensor.
Polynomial elementsOf(mlir::Value tensor, FormulaSpace &space);
Polynomial bytesOf(mlir::Value tensor, FormulaSpace &space);
/// All tensors that a kernel reads once and all results that somebody reads.
Polynomial bytesOfTensors(mlir::Operation *kernel, FormulaSpace &space);

} // namespace tenon
