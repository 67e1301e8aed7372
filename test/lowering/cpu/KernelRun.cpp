#include "test/lowering/cpu/KernelRun.h"
#include "lowering/cpu/Kernel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tenon::test {

/// Aligned memory with guard bytes behind it that must stay as they are. A device watches over its own; in its memory what nobody
/// wrote is no number, so that it shows where it is multiplied by 0, too.
class Memory {
public:
  explicit Memory(int64_t bytes, const KernelDevice *device)
      : size(device ? bytes : (bytes + 63) / 64 * 64),
        data(static_cast<char *>(device ? device->allocate(size) : aligned_alloc(64, size + 64))), device(device) {
    memset(data, device ? 0xff : 0xa5, device ? size : size + 64);
  }
  ~Memory() {
    if (data)
      device ? device->release(data) : free(data);
  }
  Memory(Memory &&other) : size(other.size), data(std::exchange(other.data, nullptr)), device(other.device) {}
  bool guarded() const {
    return device || std::all_of(data + size, data + size + 64, [](char c) { return c == char(0xa5); });
  }
  int64_t size;
  char *data;

private:
  const KernelDevice *device; // null: the host
};

/// The memory of one execution; `arenas` in the order of TnArena, without the workers' scratch.
struct Run::Buffers {
  std::vector<Memory> inputs, outputs, arenas;
  Memory scratch;
};

static uint16_t shortBits(FloatType element, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}
static double shortReal(FloatType element, uint16_t bits) {
  return APFloat(element.getFloatSemantics(), APInt(16, bits)).convertToDouble();
}

void store(Type element, char *memory, const Numbers &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (element.isF32())
      reinterpret_cast<float *>(memory)[i] = float(values[i]);
    else if (element.isF64())
      reinterpret_cast<double *>(memory)[i] = values[i];
    else if (element.isInteger(32))
      reinterpret_cast<int32_t *>(memory)[i] = int32_t(values[i]);
    else if (element.isInteger(64))
      reinterpret_cast<int64_t *>(memory)[i] = int64_t(values[i]);
    else if (auto type = dyn_cast<FloatType>(element))
      reinterpret_cast<uint16_t *>(memory)[i] = shortBits(type, values[i]);
    else
      memory[i] = char(values[i]);
  }
}
Numbers load(Type element, const char *memory, size_t count) {
  Numbers values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = element.isF32()           ? reinterpret_cast<const float *>(memory)[i]
                : element.isF64()         ? reinterpret_cast<const double *>(memory)[i]
                : element.isInteger(32)   ? double(reinterpret_cast<const int32_t *>(memory)[i])
                : element.isInteger(64)   ? double(reinterpret_cast<const int64_t *>(memory)[i])
                : isa<FloatType>(element) ? shortReal(cast<FloatType>(element), reinterpret_cast<const uint16_t *>(memory)[i])
                                          : double(memory[i]);
  return values;
}

/// Values that f32 holds exactly, in [-2, 2); integers in [0, bound).
static Numbers randomNumbers(Type element, int64_t count, uint64_t &state, int64_t bound) {
  Numbers values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t bits = state >> 40;
    if (isa<FloatType>(element))
      values.push_back((double(bits) - 8388608.0) / 4194304.0);
    else
      values.push_back(element.isInteger(1) ? double(bits & 1) : double(bits % bound));
  }
  return values;
}

/// Four numbers for each of the 65536 bit patterns of a short real: it, the middle to the next larger magnitude, and the numbers
/// of f32 on both sides of that. Where f32 has no normal number, or the pattern none at all, it alone.
static Numbers everyValue(FloatType element, int64_t count) {
  Numbers values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double value = shortReal(element, uint16_t(bits)), next = shortReal(element, uint16_t(bits + 1));
    double middle = (value + next) / 2;
    if (std::isfinite(value) && std::isinf(next)) // as if the exponent went on
      middle = value + (value - shortReal(element, uint16_t(bits - 1))) / 2;
    const bool isMiddle =
        std::isfinite(middle) && std::fabs(middle) <= std::numeric_limits<float>::max() && (bits & 0x7fff) < 0x7fff;
    const float at = isMiddle ? float(middle) : 0, away = std::copysign(INFINITY, at);
    const double all[] = {value, isMiddle ? at : value, isMiddle ? std::nextafterf(at, 0) : value,
                          isMiddle ? std::nextafterf(at, away) : value};
    for (double each : all) {
      const bool isNormal = each == 0 || !(std::fabs(each) < std::numeric_limits<float>::min());
      values.push_back(isNormal ? each : 0); // denormals of f32 are zeros
    }
  }
  values.resize(count);
  return values;
}

static bool tilesReversed = false;
static int64_t largestTiles = 0;
static void parallelFor(const TnContext *context, TnTile tile, int64_t tiles) {
  largestTiles = std::max(largestTiles, tiles);
  for (int64_t i = 0; i < tiles; ++i)
    tile(context, tilesReversed ? tiles - 1 - i : i, 0);
}

Run::Run(func::FuncOp function, const TnEntry &entry, std::vector<int64_t> dims, const RunOptions &options)
    : function(function), entry(entry), dims(dims), options(options) {
  machine.dims = dims;
  machine.seed = options.seed;
  machine.step = options.step;
  uint64_t state = 12345;
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
      auto bound = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "test.bound");
      machine.inputs.push_back(randomNumbers(type.getElementType(), elementCount(type, dims), state, bound ? bound.getInt() : 5));
      auto every = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), "test.every");
      if (every)
        machine.inputs.back() = everyValue(cast<FloatType>(every.getValue()), elementCount(type, dims));
      if (isa<FloatType>(type.getElementType()))
        for (double &value : machine.inputs.back())
          value = rounded(type.getElementType(), every ? value : float(value * options.inputScale));
    }
  function.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadStateOp>(op))
      stateTypes[read.getIndex()] = {cast<RankedTensorType>(read.getValue().getType()), copies(read.getDepths())};
    if (auto write = dyn_cast<WriteStateOp>(op))
      stateTypes[write.getIndex()] = {cast<RankedTensorType>(write.getValue().getType()), copies(write.getDepths())};
    if (auto output = dyn_cast<OutputOp>(op))
      outputs[output.getIndex()] = output;
  });
  for (auto &[index, type] : stateTypes)
    machine.states.push_back(randomNumbers(type.first.getElementType(), type.second * elementCount(type.first, dims), state, 5));
  machine.nextStates = machine.states;
  for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
    auto type = cast<RankedTensorType>(parameter.getType());
    std::string name = parameter.getSymName().str();
    for (auto *arena : {&machine.parameters, &machine.gradients, &machine.firstMoments, &machine.secondMoments})
      (*arena)[name] = randomNumbers(type.getElementType(), type.getNumElements(), state, 5);
    for (double &value : machine.secondMoments[name])
      value = std::fabs(value);
    const int64_t count = parameter.getStacked() ? type.getDimSize(0) : 1;
    const int64_t bytes = count > 1 ? parameter.getStride() * count : type.getNumElements() * elementBytes(type.getElementType());
    arenaBytes = std::max<int64_t>(arenaBytes, parameter.getOffset() + bytes);
  }
  start = machine;
}

Results Run::reference(double corrupt) {
  evaluate(function, machine);
  Results results;
  auto add = [&](const std::string &name, Type element, Numbers values) {
    if (corrupt != 0)
      values[0] += corrupt;
    std::vector<char> bytes(values.size() * 8);
    store(Float64Type::get(element.getContext()), bytes.data(), values);
    results.named[name] = {element, bytes};
  };
  for (auto &[index, output] : outputs)
    add("output " + std::to_string(index), cast<RankedTensorType>(output.getValue().getType()).getElementType(),
        machine.outputs.at(index));
  for (auto &[index, type] : stateTypes)
    add("state " + std::to_string(index), type.first.getElementType(), machine.nextStates[index]);
  add("loss scale", Float64Type::get(function.getContext()), {machine.lossScale, machine.goodUpdates});
  for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
    Type element = cast<RankedTensorType>(parameter.getType()).getElementType();
    std::string name = parameter.getSymName().str();
    add("parameter " + name, element, machine.parameters[name]);
    add("gradient " + name, element, machine.gradients[name]);
    add("moment1 " + name, element, machine.firstMoments[name]);
    add("moment2 " + name, element, machine.secondMoments[name]);
  }
  return results;
}

void Run::fill(Buffers &buffers, ArrayRef<int64_t> offsets) {
  unsigned input = 0;
  for (Type argument : function.getArgumentTypes())
    if (auto type = dyn_cast<RankedTensorType>(argument)) {
      const Numbers &values = start.inputs[input++];
      buffers.inputs.emplace_back(values.size() * elementBytes(type.getElementType()), options.device);
      store(type.getElementType(), buffers.inputs.back().data, values);
    }
  for (auto [index, output] : outputs) {
    auto type = cast<RankedTensorType>(output.getValue().getType());
    buffers.outputs.emplace_back(elementCount(type, dims) * elementBytes(type.getElementType()), options.device);
  }
  const std::map<std::string, Numbers> *tables[] = {&start.parameters, &start.gradients, &start.firstMoments,
                                                    &start.secondMoments};
  for (int arena = 0; arena < 4; ++arena)
    forParameters([&](ParameterOp parameter, Type element, int64_t copy, int64_t count) {
      const Numbers &all = tables[arena]->at(parameter.getSymName().str());
      store(element, buffers.arenas[arena].data + parameter.getOffset() + copy * parameter.getStride(),
            Numbers(all.begin() + copy * count, all.begin() + (copy + 1) * count));
    });
  for (auto &[index, type] : stateTypes)
    store(type.first.getElementType(), buffers.arenas[TN_ARENA_STATES].data + offsets[index], start.states[index]);
}

Results Run::collect(const Buffers &buffers, ArrayRef<int64_t> offsets) {
  Results results;
  auto keep = [&](const std::string &name, Type element, const char *data, int64_t count) {
    auto &place = results.named[name];
    place.first = element;
    place.second.insert(place.second.end(), data, data + count * elementBytes(element));
  };
  auto buffer = buffers.outputs.begin();
  for (auto &[index, output] : outputs) {
    auto type = cast<RankedTensorType>(output.getValue().getType());
    keep("output " + std::to_string(index), type.getElementType(), (buffer++)->data, elementCount(type, dims));
  }
  for (auto &[index, type] : stateTypes)
    keep("state " + std::to_string(index), type.first.getElementType(),
         buffers.arenas[TN_ARENA_NEXT_STATES].data + offsets[index], type.second * elementCount(type.first, dims));
  const char *arenaNames[] = {"parameter ", "gradient ", "moment1 ", "moment2 "};
  for (int arena = 0; arena < 4; ++arena)
    forParameters([&](ParameterOp parameter, Type element, int64_t copy, int64_t count) {
      keep(arenaNames[arena] + parameter.getSymName().str(), element,
           buffers.arenas[arena].data + parameter.getOffset() + copy * parameter.getStride(), count);
    });
  return results;
}

void Run::checkGuards(const Buffers &buffers) {
  for (const auto *group : {&buffers.inputs, &buffers.outputs, &buffers.arenas})
    for (const Memory &memory : *group)
      if (!memory.guarded())
        die("memory behind a buffer was written");
  if (!buffers.scratch.guarded())
    die("memory behind the scratch was written");
}

Results Run::execute(const TnVariant &variant, bool reverseTiles) {
  std::vector<int64_t> offsets(entry.offset_count);
  int64_t sizes[4];
  entry.bind(dims.data(), offsets.data(), sizes);
  Buffers buffers{{}, {}, {}, Memory(sizes[2], nullptr)};
  for (int64_t bytes : {arenaBytes, arenaBytes, arenaBytes, arenaBytes, sizes[0], sizes[0], sizes[1]})
    buffers.arenas.emplace_back(bytes, options.device);
  fill(buffers, offsets);
  auto pointers = [](const std::vector<Memory> &memories) {
    std::vector<void *> result;
    for (const Memory &memory : memories)
      result.push_back(memory.data);
    return result;
  };
  std::vector<void *> inputPointers = pointers(buffers.inputs), outputPointers = pointers(buffers.outputs);
  char *arenaPointers[TN_ARENA_COUNT] = {};
  for (size_t i = 0; i < buffers.arenas.size(); ++i)
    arenaPointers[i] = buffers.arenas[i].data;
  const Memory ofScale(sizeof(TnLossScale), options.device);
  TnLossScale &scale = *reinterpret_cast<TnLossScale *>(ofScale.data);
  scale = {float(start.lossScale), 0, int64_t(start.goodUpdates)};
  arenaPointers[TN_ARENA_LOSS_SCALE] = ofScale.data;
  TnContext context = {dims.data(),
                       arenaPointers,
                       inputPointers.data(),
                       outputPointers.data(),
                       offsets.data(),
                       parallelFor,
                       buffers.scratch.data,
                       sizes[2],
                       options.seed,
                       options.step,
                       nullptr,
                       0,
                       0};
  if (options.device)
    context.launch = options.device->launch;
  tilesReversed = reverseTiles;
  const std::vector<char> parameters(arenaPointers[TN_ARENA_PARAMS], arenaPointers[TN_ARENA_PARAMS] + arenaBytes);
  for (uint64_t flags : options.halves ? std::vector<uint64_t>{TN_GRADIENTS_ONLY, TN_UPDATE_ONLY} : std::vector<uint64_t>{0}) {
    context.flags = flags;
    if (variant.run(&context) != 0)
      die("the entry failed");
    if (flags == TN_GRADIENTS_ONLY && memcmp(parameters.data(), arenaPointers[TN_ARENA_PARAMS], parameters.size()) != 0)
      die("the gradients half has changed a parameter");
  }
  Results results = collect(buffers, offsets);
  const double scaled[] = {scale.scale, double(scale.good)};
  results.named["loss scale"] = {
      Float64Type::get(function.getContext()),
      std::vector<char>(reinterpret_cast<const char *>(scaled), reinterpret_cast<const char *>(scaled) + sizeof scaled)};
  checkGuards(buffers);
  if (options.timing > 0)
    measure(context, variant);
  return results;
}

void Run::die(const std::string &what) {
  llvm::errs() << function.getName() << ": " << what << "\n";
  exit(1);
}

void Run::measure(const TnContext &context, const TnVariant &variant) {
  double best = INFINITY;
  for (unsigned i = 0; i < options.timing; ++i) {
    timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    variant.run(&context);
    clock_gettime(CLOCK_MONOTONIC, &to);
    best = std::min(best, (to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) * 1e-3);
  }
  llvm::outs() << function.getName() << " " << variant.name << ": " << llvm::format("%.1f", best) << " us, at most "
               << largestTiles << " tiles\n";
}

void Run::forParameters(llvm::function_ref<void(ParameterOp, Type, int64_t, int64_t)> body) {
  for (ParameterOp parameter : function->getParentOfType<ModuleOp>().getOps<ParameterOp>()) {
    auto type = cast<RankedTensorType>(parameter.getType());
    const int64_t count = parameter.getStacked() ? type.getDimSize(0) : 1;
    for (int64_t copy = 0; copy < count; ++copy)
      body(parameter, type.getElementType(), copy, type.getNumElements() / count);
  }
}

} // namespace tenon::test
