#include "runtime/parameters/Parameters.h"
#include "runtime/base/Convert.h"
#include "runtime/device/Threads.h"
#include "runtime/parameters/Initialize.h"
#include "runtime/parameters/PublicNames.h"
#include "tenon/artifact.h"
#define XXH_INLINE_ALL
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <system_error>
#include <thread>
#include <xxhash.h>

namespace tenon::runtime {

namespace {
/// Contexts have the steps 4 to 7 of the stagger (Context.cpp).
constexpr unsigned sumsStagger = 8;
constexpr unsigned besideStagger = 9; // of copies or remainders
constexpr unsigned slicesStagger = 10;
constexpr unsigned lossScaleStagger = 11;
const char *const arenaNames[9] = {"parameters",
                                   "gradients",
                                   "first moments",
                                   "second moments",
                                   "sums of gradients",
                                   "copies of the parameters",
                                   "partial sums of slices",
                                   "loss scale",
                                   "remainders of the parameters"};
} // namespace

DeviceView ModelState::element(int64_t stackIndex) const {
  const uint64_t bytes = memory.size() / static_cast<uint64_t>(std::max<int64_t>(countOf(info), 1));
  return memory.view().part(static_cast<uint64_t>(stackIndex) * bytes, bytes);
}

/// Numbers in all stack elements of a state of the model; 0 where it starts from something else.
static Status writeNumbers(ModelState &state) {
  const InitializerInfo &init = state.info.init;
  return fillView(state.memory.view(), [&](char *target) {
    fillNumbers(state.info.type, target, state.memory.size() / byteSize(state.info.type), init.isNumber() ? init.a : 0);
    return Status();
  });
}

Expected<std::shared_ptr<Parameters>> Parameters::create(std::shared_ptr<const Artifact> artifact) {
  std::shared_ptr<Parameters> result(new Parameters);
  result->artifact = std::move(artifact);
  const Manifest &manifest = result->manifest();
  Status status = result->ensure(ParameterArena::Values);
  if (status.ok() && manifest.copies)
    status = result->ensure(ParameterArena::Copies);
  if (status.ok() && manifest.split)
    status = result->ensure(ParameterArena::Remainders);
  if (status.failed())
    return status;
  auto place = [](const std::vector<ParameterInfo> &tensors, std::unordered_map<std::string, Place> &places) -> Status {
    for (const ParameterInfo &info : tensors)
      for (int64_t i = 0; i < info.stackElements; ++i)
        if (info.has(i) && !places.emplace(info.elementName(i), Place{&info, i}).second)
          return inputError("the artifact has two parameters called '", info.elementName(i), "'");
    return {};
  };
  if (status = place(manifest.parameters, result->places); status.ok())
    status = place(manifest.means, result->placesOfMeans);
  if (status.failed())
    return status;
  for (const EntryInfo &entry : manifest.entries)
    for (const StateInfo &state : entry.states) {
      if (!state.ofModel)
        continue;
      const uint64_t bytes = bytesOf(state); // checked by the manifest reader
      auto known = result->states.find(state.name);
      if (known != result->states.end() && known->second.memory.size() != bytes)
        return inputError("entries disagree about the size of the state '", state.name, "'");
      if (known != result->states.end())
        continue;
      auto memory = result->device().allocate(bytes, 0, "states of the model");
      if (!memory.ok())
        return memory.status();
      auto [made, isNew] = result->states.emplace(state.name, ModelState{state, memory.take(), state.init.isNumber()});
      if (status = writeNumbers(made->second); status.failed())
        return status;
    }
  return result;
}

Status Parameters::ensure(ParameterArena which) {
  int index = static_cast<int>(which);
  if (present[index])
    return {};
  const uint64_t bytes = which == ParameterArena::Slices      ? manifest().partialSumBytes()
                         : which == ParameterArena::LossScale ? sizeof(TnLossScale)
                         : isOfMeans(which)                   ? manifest().meanBytes
                                                              : manifest().parameterBytesIn(typeOfArena(which));
  const unsigned stagger = which == ParameterArena::Sums                                            ? sumsStagger
                           : which == ParameterArena::Copies || which == ParameterArena::Remainders ? besideStagger
                           : which == ParameterArena::Slices                                        ? slicesStagger
                           : which == ParameterArena::LossScale ? lossScaleStagger
                                                                : static_cast<unsigned>(index);
  auto memory = device().allocate(bytes, stagger, arenaNames[index]);
  if (!memory.ok())
    return memory.status();
  arenas[index] = memory.take();
  present[index] = true;
  return {};
}

Status Parameters::ensureTraining() {
  Status status = ensure(ParameterArena::Gradients);
  if (status.ok() && manifest().moments >= 1)
    status = ensure(ParameterArena::Moment1);
  if (status.ok() && manifest().moments >= 2)
    status = ensure(ParameterArena::Moment2);
  if (status.ok() && manifest().accumulate > 1)
    status = ensure(ParameterArena::Sums);
  if (status.ok() && manifest().lossScale && !arena(ParameterArena::LossScale)) {
    status = ensure(ParameterArena::LossScale);
    if (status.ok())
      status = resetLossScale();
  }
  if (status.ok() && manifest().partialSumBytes() > 0)
    status = ensure(ParameterArena::Slices);
  return status;
}

DeviceView Parameters::arena(ParameterArena which) const { return arenas[static_cast<int>(which)].view(); }

Expected<std::optional<TnLossScale>> Parameters::lossScale() const {
  const DeviceView view = arena(ParameterArena::LossScale);
  if (!view)
    return std::optional<TnLossScale>();
  TnLossScale scale;
  if (Status status = view.read(&scale); status.failed())
    return status;
  return std::optional<TnLossScale>(scale);
}

Status Parameters::setLossScale(double scale, int64_t good) {
  const TnLossScale values = {static_cast<float>(scale), 0, good};
  return arena(ParameterArena::LossScale).write(&values);
}

Status Parameters::resetLossScale() {
  return arena(ParameterArena::LossScale) ? setLossScale(manifest().lossScale->initial, 0) : Status();
}

Status Parameters::initialize(uint64_t seed) {
  std::vector<char> values;
  for (const ParameterInfo &info : manifest().parameters)
    for (int64_t i = 0; i < info.stackElements; ++i) {
      if (!info.has(i))
        continue;
      values.resize(static_cast<size_t>(info.elements) * byteSize(info.type));
      initializeTensor({info.init, info.elementName(i), info.shape, i}, seed, info.type, values.data());
      if (Status status = setAt({&info, i}, values.data()); status.failed())
        return status;
    }
  for (ModelState *state : statesInOrder()) {
    Status status = writeNumbers(*state);
    for (int64_t i = 0; i < countOf(state->info) && status.ok() && !state->info.init.isNumber(); ++i)
      status = writeInitial(*state, i, seed);
    if (status.failed())
      return status;
    state->given = true;
  }
  touchModelStates();
  return resetLossScale();
}

std::vector<ModelState *> Parameters::statesInOrder() {
  std::vector<ModelState *> order;
  for (const bool isCopy : {false, true})
    for (auto &[name, state] : states)
      if (isCopy == (states.count(state.info.as) > 0))
        order.push_back(&state);
  return order;
}

Status Parameters::writeInitial(ModelState &state, int64_t stackIndex, uint64_t seed) {
  if (auto copied = copySource(state, stackIndex); !copied.ok() || *copied)
    return copied.status();
  const StateInfo &info = state.info;
  const Shape shape = stateShape(info);
  const std::string name = expandStars(info.as.empty() ? info.name : info.as, info.stack, stackIndex);
  return fillView(state.element(stackIndex), [&](char *target) {
    initializeTensor({info.init, name, {shape.begin(), shape.end()}, stackIndex}, seed, info.type, target);
    return Status();
  });
}

Expected<bool> Parameters::copySource(ModelState &state, int64_t stackIndex) {
  const StateInfo &info = state.info;
  const auto place = info.as.empty() ? places.end() : places.find(expandStars(info.as, info.stack, stackIndex));
  const auto other = states.find(info.as);
  if (place == places.end() && other == states.end())
    return false;
  const bool isParameter = place != places.end();
  const DataType from = isParameter ? place->second.info->type : other->second.info.type;
  const DeviceView to = state.element(stackIndex);
  const uint64_t count = to.size() / byteSize(info.type);
  const uint64_t expected = isParameter ? static_cast<uint64_t>(place->second.info->elements)
                                        : other->second.memory.size() / byteSize(from) / static_cast<uint64_t>(countOf(info));
  if (count != expected)
    return inputError("the artifact's state '", info.name, "' has not the size of '", info.as, "', as which it starts");
  std::vector<char> values(count * byteSize(from));
  Status status = isParameter ? getAt(place->second, values.data()) : other->second.element(stackIndex).read(values.data());
  if (status.ok())
    status = fillView(to, [&](char *target) {
      convertReals(from, values.data(), count, info.type, target);
      return Status();
    });
  if (status.failed())
    return status;
  return true;
}

bool Parameters::isOfMeans(ParameterArena which) const { return which == ParameterArena::Moment1 && !manifest().means.empty(); }

const std::vector<ParameterInfo> &Parameters::tensorsIn(ParameterArena which) const {
  return isOfMeans(which) ? manifest().means : manifest().parameters;
}

std::vector<std::string> Parameters::names(ParameterArena which) const {
  std::vector<std::string> list;
  for (const ParameterInfo &info : tensorsIn(which))
    for (int64_t i = 0; i < info.stackElements; ++i)
      if (info.has(i))
        list.push_back(info.elementName(i));
  return list;
}

Expected<Parameters::Place> Parameters::find(const std::string &name, ParameterArena which) const {
  const auto &all = isOfMeans(which) ? placesOfMeans : places;
  auto found = all.find(name);
  if (found == all.end())
    return inputError("the ", isOfMeans(which) ? "optimizer of the " : "", "model '", manifest().model, "' has no ",
                      isOfMeans(which) ? "means" : "parameter", " '", name, "'");
  return found->second;
}

DataType Parameters::typeOf(const ParameterInfo &info, ParameterArena which) const {
  return which == ParameterArena::Values   ? info.stored
         : which == ParameterArena::Copies ? manifest().copies.value_or(info.type)
                                           : info.type;
}

DataType Parameters::typeInMemory(const ParameterInfo &info, ParameterArena which) const {
  return (which == ParameterArena::Values && info.split) || which == ParameterArena::Remainders ? *manifest().split
                                                                                                : typeOf(info, which);
}

/// As long as if all its parameters were of this type.
DataType Parameters::typeOfArena(ParameterArena which) const {
  const Manifest &all = manifest();
  return which == ParameterArena::Values       ? all.split.value_or(all.parameterType)
         : which == ParameterArena::Copies     ? all.copies.value_or(all.type)
         : which == ParameterArena::Remainders ? *all.split
                                               : all.type;
}

DeviceView Parameters::stored(const Place &place, ParameterArena which) const {
  const ParameterInfo &info = *place.info;
  const uint64_t first = (info.offset + info.stride * static_cast<uint64_t>(place.stackIndex)) / byteSize(manifest().type);
  return arena(which).part(first * byteSize(typeOfArena(which)),
                           static_cast<uint64_t>(info.elements) * byteSize(typeInMemory(info, which)));
}

Status Parameters::checkGiven() const {
  for (const auto &[name, state] : states)
    if (!state.given)
      return usageError("the state '", name, "' of the model '", manifest().model,
                        "' has no values yet; load a file or a checkpoint, set it, or initialize the model first");
  if (given.size() == places.size())
    return {};
  const std::vector<std::string> all = names();
  auto first = std::find_if(all.begin(), all.end(), [&](const std::string &name) {
    const Place &place = places.at(name);
    return !given.count({place.info, place.stackIndex});
  });
  const size_t others = places.size() - given.size() - 1;
  return usageError("the parameter '", *first, "'", others > 0 ? concat(" and ", counted(others, "other")) : "",
                    " of the model '", manifest().model, "' ", others > 0 ? "have" : "has",
                    " no values yet; load a file or a checkpoint, set each, or initialize the model first");
}

static Status checkAccess(const Parameters &parameters, const Parameters::Place &place, const std::string &name, uint64_t bytes,
                          ParameterArena which) {
  if (!parameters.arena(which))
    return usageError("the ", arenaNames[static_cast<int>(which)], " are not allocated");
  uint64_t expected = static_cast<uint64_t>(place.info->elements) * byteSize(place.info->type);
  if (bytes != expected)
    return usageError("'", name, "' has ", expected, " bytes, got ", bytes);
  return {};
}

Status Parameters::get(const std::string &name, void *values, uint64_t bytes, ParameterArena which) const {
  auto place = find(name, which);
  Status status = place.ok() ? checkAccess(*this, *place, name, bytes, which) : place.status();
  return status.ok() ? getAt(*place, values, which) : status;
}

Status Parameters::set(const std::string &name, const void *values, uint64_t bytes, ParameterArena which) {
  auto place = find(name, which);
  Status status = place.ok() ? checkAccess(*this, *place, name, bytes, which) : place.status();
  return status.ok() ? setAt(*place, values, which) : status;
}

bool Parameters::isSignature(const std::string &text) const {
  return text == signatureIn(DataType::F32) || text == signatureIn(DataType::F64);
}

std::string Parameters::signature() const { return signatureIn(manifest().type); }

std::string Parameters::signatureIn(DataType type) const {
  std::string text(nameOf(type));
  for (const ParameterInfo &info : manifest().parameters) {
    text += concat('\n', info.name);
    for (int64_t size : info.stack)
      text += concat(' ', size);
    text += ':';
    for (size_t i = 0; i < info.shape.size(); ++i)
      text += concat(' ', info.axes[i], '=', info.shape[i]);
  }
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  std::string hex;
  for (unsigned char byte : bytes.digest)
    hex += concat("0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]);
  return hex;
}

} // namespace tenon::runtime
