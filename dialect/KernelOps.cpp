// The kernel form: verifiers. That indices stay inside is not decided here, kernels are made from ops whose sizes agree.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Rules.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tenon;

LogicalResult AtOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  auto tensor = cast<RankedTensorType>(adaptor.getTensor().getType());
  if (tensor.getRank() != int64_t(adaptor.getIndices().size())) // C1
    return emitOptionalError(location, "'tenon.at' op expects one index per dimension, got ", adaptor.getIndices().size(),
                             " for rank ", tensor.getRank());
  types.push_back(tensor.getElementType());
  return success();
}

/// The kernel whose results a put stores, or nothing.
static Operation *kernelOf(PutOp put) {
  Operation *op = put->getParentOp();
  while (isa_and_nonnull<EachOp>(op))
    op = op->getParentOp();
  return op && op->hasTrait<PutsResults>() ? op : nullptr;
}
static void collectPuts(Block &block, llvm::SmallBitVector &isPut) {
  for (Operation &op : block) {
    if (auto put = dyn_cast<PutOp>(op))
      isPut.set(put.getResult());
    else if (auto each = dyn_cast<EachOp>(op))
      collectPuts(each.getBody().front(), isPut);
  }
}
static LogicalResult verifyResultsArePut(Operation *op) {
  llvm::SmallBitVector isPut(op->getNumResults());
  collectPuts(op->getRegion(0).front(), isPut);
  if (int missing = isPut.find_first_unset(); missing >= 0)
    return op->emitOpError("expects a put for each of its ")
           << op->getNumResults() << " results, got none for " << missing; // C3 of nest, C7 of gemm
  return success();
}

LogicalResult NestOp::verify() { return verifyLoop(*this, getRows(), getBody().front()); } // C1, C2
LogicalResult NestOp::verifyRegions() { return verifyResultsArePut(*this); }               // C3

LogicalResult EachOp::verify() { return verifyLoop(*this, getSizes(), getBody().front()); } // C2, C3

LogicalResult FoldOp::verify() {
  if (getSizes().getNumResults() == 0) // C2
    return emitOpError("expects at least one dimension, got none");
  bool isTruth = getType().isInteger(1), wantsTruth = getKind() == Reduction::all || getKind() == Reduction::any;
  if (isTruth != wantsTruth) // C5
    return emitOpError("expects truth values for all and any, numbers otherwise, got ") << getType();
  return verifyLoop(*this, getSizes(), getBody().front()); // C2, C3
}
LogicalResult FoldOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield->getOperandTypes() != (*this)->getResultTypes()) // C4
    return emitOpError("expects a body that yields ")
           << getType() << ", got (" << getBody().front().getTerminator()->getOperandTypes() << ")";
  return success();
}

/// Sixteen counters have four words each, of which a draw of 16 bits takes a half.
int64_t RandomKeepOp::elementsOfBlock() { return 128; }
bool RandomKeepOp::leavesOut() { return true; }
int64_t RandomBitsOp::elementsOfBlock() { return 64; }

LogicalResult SizeValueOp::verify() { return verifyForm(*this, getForm()); } // C1

LogicalResult PutOp::verify() {
  Operation *kernel = kernelOf(*this);
  if (!kernel) // C1
    return emitOpError("expects to lie in a nest or in a gemm, got ") << (*this)->getParentOp()->getName();
  if (getResult() >= kernel->getNumResults()) // C2
    return emitOpError("expects the number of one of ") << kernel->getNumResults() << " results, got " << getResult();
  auto type = tensorOf(kernel->getResult(getResult()));
  if (int64_t(getIndices().size()) != type.getRank()) // C3
    return emitOpError("expects one index per dimension, got ") << getIndices().size() << " for rank " << type.getRank();
  if (getElement().getType() != type.getElementType()) // C4
    return emitOpError("expects an element of ") << type.getElementType() << ", got " << getElement().getType();
  return success();
}

/// An operand in memory, or one that a region computes.
static LogicalResult verifyOperand(GemmOp op, char name, Value tensor, std::optional<Type> computed, Region &element) {
  if (tensor ? computed || !element.empty() : !computed || element.empty()) // C8
    return op.emitOpError("expects operand ") << name << " either in memory or as a type with a region";
  if (element.empty())
    return success();
  return verifyArguments(op, element.front(), cast<RankedTensorType>(*computed).getRank(), {}); // C8
}

LogicalResult GemmOp::verify() {
  if (failed(verifyOperand(*this, 'a', getA(), getAType(), getAElement())) ||
      failed(verifyOperand(*this, 'b', getB(), getBType(), getBElement())))
    return failure();
  FailureOr<SmallVector<AffineExpr>> sizes =
      verifyLabels(*this, typeOfA(), typeOfB(), getALabels(), getBLabels(), getRank()); // C1 to C3
  if (failed(sizes))
    return failure();
  for (auto [number, result] : llvm::enumerate(getResults())) { // C4
    SmallVector<AffineExpr> own = sizesOf(tensorOf(result));
    if (own.size() != sizes->size() || !std::is_permutation(own.begin(), own.end(), sizes->begin()))
      return emitOpError("expects result ") << number << " to have the " << getRank() << " dimensions of the contraction, got "
                                            << result.getType();
  }
  if (getRestUnread() && getRestUnread()->size() != getNumResults()) // C9
    return emitOpError("expects in rest_unread a truth value for each of its ")
           << getNumResults() << " results, got " << getRestUnread()->size();
  return verifyArguments(*this, getBody().front(), getRank(), elementModel(typeOfA().getElementType()).compute); // C5
}
LogicalResult GemmOp::verifyRegions() {
  if (size_t values = getBody().front().getTerminator()->getNumOperands()) // C6
    return emitOpError("expects a body that yields nothing, got ") << values << " values";
  for (auto [block, type] : {std::pair(elementOfA(), typeOfA()), std::pair(elementOfB(), typeOfB())})
    if (block && block->getTerminator()->getOperandTypes() != TypeRange(type.getElementType())) // C8
      return emitOpError("expects the region of an operand to yield ")
             << type.getElementType() << ", got (" << block->getTerminator()->getOperandTypes() << ")";
  return verifyResultsArePut(*this); // C7
}

static bool isBefore(Operation *first, Operation *second) {
  if (Operation *ancestor = second->getBlock()->findAncestorOpInBlock(*first))
    return ancestor->isBeforeInBlock(second);
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*second);
  return ancestor && first->isBeforeInBlock(ancestor);
}

SmallVector<Value> tenon::readInFrontOfPut(Operation *kernel, unsigned result) {
  PutOp put;
  unsigned puts = 0;
  kernel->walk([&](PutOp other) {
    if (other.getResult() == result) {
      put = other;
      ++puts;
    }
  });
  if (puts != 1)
    return {};
  llvm::MapVector<Value, bool> inPlace;
  kernel->walk([&](AtOp load) {
    bool &legal = inPlace.try_emplace(load.getTensor(), true).first->second;
    legal &= llvm::equal(load.getIndices(), put.getIndices()) && isBefore(load, put);
  });
  SmallVector<Value> found;
  for (auto &[tensor, legal] : inPlace)
    if (legal && tensor.getType() == kernel->getResult(result).getType())
      found.push_back(tensor);
  return found;
}
SmallVector<Value> NestOp::overwritable(unsigned result) { return readInFrontOfPut(*this, result); }

ParseResult GemmOp::parse(OpAsmParser &parser, OperationState &result) {
  std::array<std::optional<OpAsmParser::UnresolvedOperand>, 2> operands;
  std::array<Type, 2> types;
  auto &properties = result.getOrAddProperties<Properties>();
  auto operand = [&](int which, DenseI64ArrayAttr &labels) -> ParseResult {
    OpAsmParser::UnresolvedOperand tensor;
    if (OptionalParseResult found = parser.parseOptionalOperand(tensor); found.has_value()) {
      if (failed(*found))
        return failure();
      operands[which] = tensor;
    } else if (failed(parser.parseKeyword("element"))) {
      return failure();
    }
    labels = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, {}));
    return success(labels != nullptr);
  };
  int64_t rank = 0;
  SmallVector<Type> results;
  if (operand(0, properties.a_labels) || parser.parseComma() || operand(1, properties.b_labels) || parser.parseKeyword("rank") ||
      parser.parseInteger(rank) || parser.parseColon() || parser.parseType(types[0]) || parser.parseComma() ||
      parser.parseType(types[1]) || parser.parseArrow() || parser.parseTypeList(results) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  properties.rank = parser.getBuilder().getI64IntegerAttr(rank);
  result.addTypes(results);
  Region *body = result.addRegion(), *regions[2] = {result.addRegion(), result.addRegion()};
  if (parser.parseRegion(*body))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  for (int which : {0, 1}) {
    properties.operandSegmentSizes[which] = operands[which].has_value();
    if (operands[which]) {
      if (parser.resolveOperand(*operands[which], types[which], result.operands))
        return failure();
      continue;
    }
    if (parser.parseKeyword(which == 0 ? "a" : "b") || parser.parseRegion(*regions[which]))
      return failure();
    (which == 0 ? properties.a_type : properties.b_type) = TypeAttr::get(types[which]);
  }
  return success();
}

void GemmOp::print(OpAsmPrinter &printer) {
  auto operand = [&](Value tensor, DenseI64ArrayAttr labels) {
    if (tensor)
      printer << tensor;
    else
      printer << "element";
    labels.print(printer.getStream());
  };
  printer << ' ';
  operand(getA(), getALabelsAttr());
  printer << ", ";
  operand(getB(), getBLabelsAttr());
  printer << " rank " << getRank() << " : " << typeOfA() << ", " << typeOfB() << " -> " << getResultTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getOperandSegmentSizesAttrName(), getALabelsAttrName(), getBLabelsAttrName(),
                                            getRankAttrName(), getATypeAttrName(), getBTypeAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/false);
  for (auto [name, region] : {std::pair(" a ", &getAElement()), std::pair(" b ", &getBElement())})
    if (!region->empty()) {
      printer << name;
      printer.printRegion(*region);
    }
}
