#include "lowering/schedule/KernelReport.h"
#include "dialect/ElementModel.h"
#include "dialect/Places.h"
#include "dialect/StoredParameter.h"
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"
#include "dialect/Traits.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tenon {
namespace {

std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place =
        (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn()))
            .str();
    return WalkResult::interrupt();
  });
  return place;
}

/// The rows of a block and of the loops in it.
class Rows {
public:
  Rows(func::FuncOp function, FormulaSpace &space) : space(space) {
    auto module = function->getParentOfType<ModuleOp>();
    isShort = bool(parameterType(module));
    for (ParameterOp parameter : module.getOps<ParameterOp>())
      names[parameter.getOffset()] = parameter.getSymName();
    add(function.getBody().front(), Polynomial(1));
  }
  std::vector<KernelRow> rows;

private:
  void add(Block &block, const Polynomial &calls) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op))
        add(loop.getBody().front(), calls * space.of(loop.getCount().getResult(0)));
      else if (auto kernel = dyn_cast<KernelOpInterface>(op))
        rows.push_back({subjectOf(kernel), op.getName().stripDialect().str(), placeOf(op.getLoc()), storageOf(kernel),
                        launchesOf(op), calls, kernel.countFlops(space) * calls, kernel.countBytes(space) * calls,
                        domainOf(kernel), op.getAttrOfType<DictionaryAttr>("tenon.chosen")});
      else if (auto scheduled = dyn_cast<ScheduleOpInterface>(op); scheduled && scheduled.typeMoved())
        rows.push_back(rowOf(scheduled, calls));
    }
  }
  std::vector<Polynomial> domainOf(KernelOpInterface kernel) {
    std::vector<Polynomial> sizes;
    for (AffineExpr size : kernel.parallelDomain())
      sizes.push_back(space.of(size));
    return sizes;
  }
  KernelRow rowOf(ScheduleOpInterface op, const Polynomial &calls) {
    const RankedTensorType moved = op.typeMoved();
    const Polynomial elements = space.of(product(sizesOf(moved), op.getContext())) * calls;
    return {gradientAt(op.placeWritten()),
            op->getName().stripDialect().str(),
            placeOf(op.getLoc()),
            elementModel(moved.getElementType()).name().str(),
            {},
            calls,
            elements * op.flopsOfElement(),
            elements * (op.touchesOfElement() * elementBytes(moved.getElementType())),
            {},
            {}};
  }
  static std::vector<std::string> launchesOf(Operation &op) {
    std::vector<std::string> names;
    if (auto launches = op.getAttrOfType<ArrayAttr>("tenon.launches"))
      for (auto name : launches.getAsRange<StringAttr>())
        names.push_back(name.str());
    return names;
  }
  std::string gradientAt(PlaceAttr place) {
    return place && place.getMemory() == Memory::Gradients ? "gradient of " + names.lookup(place.getSlot()).str() : "";
  }

  /// Names of element types, each once, in the order of the tensors.
  using ElementTypes = llvm::SmallSetVector<Type, 4>;
  static std::string namesOf(ValueRange tensors) {
    ElementTypes types;
    for (Value tensor : tensors)
      types.insert(cast<RankedTensorType>(tensor.getType()).getElementType());
    return namesOf(types);
  }
  static std::string namesOf(const ElementTypes &types) {
    return llvm::join(llvm::map_range(types, [](Type type) { return elementModel(type).name(); }), " ");
  }
  /// Gradients, moments and masters have the parameter's type; beside it, what is stored shorter, its remainders, and copies for
  /// contractions.
  static std::string storageOfParameters(ModuleOp module) {
    ElementTypes reads, writes;
    for (ParameterOp parameter : module.getOps<ParameterOp>()) {
      if (parameter.getFrozen())
        continue;
      const Type whole = parameter.getType().getElementType();
      for (ElementTypes *types : {&reads, &writes}) {
        types->insert(whole);
        types->insert(storedType(parameter));
        if (isSplit(parameter))
          types->insert(remainderType(module.getContext()));
      }
      if (Type copies = copyTypeOf(parameter))
        writes.insert(copies);
    }
    return namesOf(reads) + " -> " + namesOf(writes);
  }
  static std::string storageOf(KernelOpInterface kernel) {
    if (kernel->hasTrait<UpdatesParameters>())
      return storageOfParameters(kernel->getParentOfType<ModuleOp>());
    SmallVector<Value> written;
    llvm::copy_if(kernel->getResults(), std::back_inserter(written), isRead);
    const bool isOfArenas = kernel.tensorsRead().empty() && llvm::all_of(written, [](Value result) {
                              return cast<RankedTensorType>(result.getType()).getRank() == 0;
                            });
    if (isOfArenas) // or a number
      return {};
    const std::string reads = namesOf(kernel.tensorsRead()), writes = namesOf(written);
    return reads.empty() || writes.empty() ? reads + writes : reads + " -> " + writes;
  }

  /// The parameter whose gradient it makes, else the largest one that it reads: of a Linear its weight.
  std::string subjectOf(KernelOpInterface kernel) {
    if (auto places = kernel->getAttrOfType<ArrayAttr>("tenon.places"))
      for (auto place : places.getAsRange<Attribute>())
        if (auto one = dyn_cast<PlaceAttr>(place); one && one.getMemory() == Memory::Gradients)
          return gradientAt(one);
    for (Operation *user : kernel->getUsers())
      if (auto moves = dyn_cast<ScheduleOpInterface>(user))
        if (PlaceAttr to = moves.placeWritten(); to && to.getMemory() == Memory::Gradients)
          return gradientAt(to);
    PlaceOp largest;
    auto elementsOf = [](PlaceOp read) { return cast<RankedTensorType>(read.getType()).getNumElements(); };
    for (Value tensor : kernel.tensorsRead())
      if (auto read = tensor.getDefiningOp<PlaceOp>(); read && isParameters(read.getPlace().getMemory()))
        if (!largest || elementsOf(read) > elementsOf(largest))
          largest = read;
    if (!largest)
      return {};
    const PlaceAttr place = largest.getPlace();
    return names.lookup(place.getSlot() * (place.getMemory() != Memory::Parameters || isShort ? 2 : 1)).str();
  }
  static bool isParameters(Memory memory) {
    return memory == Memory::Parameters || memory == Memory::Copies || memory == Memory::Remainders;
  }

  FormulaSpace &space;
  llvm::DenseMap<int64_t, StringRef> names; // of parameters, by their offset in the arena of gradients
  bool isShort = false;                     // parameters lie in 16 bits, at half of it
};

} // namespace

std::vector<KernelRow> reportKernels(const ScheduledEntry &entry, FormulaSpace &space) {
  return std::move(Rows(entry.function, space).rows);
}

MemoryReport reportMemory(const ScheduledEntry &entry, FormulaSpace &space) {
  MemoryReport report;
  for (auto [i, bytes] : llvm::enumerate(entry.arenas.stateBytes)) {
    bool inPlace = i < entry.arenas.inPlace.size() && entry.arenas.inPlace[i];
    (inPlace ? report.kept : report.states) += space.aligned(space.of(bytes));
  }
  std::vector<Maximum> ends;
  auto place = [&](const Arenas::Slot &slot) {
    Polynomial bytes = space.aligned(space.of(slot.bytes));
    Maximum end;
    end.add(space, bytes);
    for (unsigned below : slot.after)
      end.add(space, ends[below], bytes);
    report.workspace.add(space, end, 0);
    ends.push_back(std::move(end));
    if (slot.saved)
      report.saved += bytes;
  };
  for (const Arenas::Slot &slot : entry.arenas.slots)
    place(slot);
  report.scratchPerWorker = (entry.arenas.scratchBytes + 63) / 64 * 64;
  func::FuncOp function = entry.function;
  auto bytes = [&](Type type) { // each input and output starts on a cache line
    return space.aligned(space.of(tensorBytes(cast<RankedTensorType>(type))));
  };
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type))
      report.inputs += bytes(type);
  for (Attribute output : function->getAttrOfType<ArrayAttr>("tenon.outputs"))
    report.outputs += bytes(cast<TypeAttr>(output).getValue());
  return report;
}

} // namespace tenon
