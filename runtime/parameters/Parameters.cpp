#include "runtime/parameters/Parameters.h"
#include "runtime/base/Convert.h"
#include "runtime/device/Threads.h"
#include "runtime/parameters/Initialize.h"
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

/// All stack elements of a state of the model with its initial value.
static std::vector<char> initialState(const StateInfo &info) {
  uint64_t elements = 1;
  for (int64_t size : info.stack)
    elements *= static_cast<uint64_t>(size);
  for (const SizeForm &size : info.shape)
    elements *= static_cast<uint64_t>(size.constant); // checked by the manifest reader
  std::vector<char> bytes(elements * byteSize(info.type));
  fillNumbers(info.type, bytes.data(), elements, info.initial);
  return bytes;
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
  for (const ParameterInfo &info : manifest.parameters)
    for (int64_t i = 0; i < info.stackElements; ++i)
      if (info.has(i) && !result->places.emplace(info.elementName(i), Place{&info, i}).second)
        return inputError("the artifact has two parameters called '", info.elementName(i), "'");
  for (const EntryInfo &entry : manifest.entries)
    for (const StateInfo &state : entry.states) {
      if (!state.ofModel)
        continue;
      const std::vector<char> initial = initialState(state);
      auto known = result->states.find(state.name);
      if (known != result->states.end() && known->second.memory.size() != initial.size())
        return inputError("entries disagree about the size of the state '", state.name, "'");
      if (known != result->states.end())
        continue;
      auto memory = result->device().allocate(initial.size(), 0, "states of the model");
      if (!memory.ok())
        return memory.status();
      if (status = memory->view().write(initial.data()); status.failed())
        return status;
      result->states.emplace(state.name, ModelState{state, memory.take()});
    }
  return result;
}

Status Parameters::ensure(ParameterArena which) {
  int index = static_cast<int>(which);
  if (present[index])
    return {};
  const uint64_t bytes = which == ParameterArena::Slices      ? manifest().partialSumBytes()
                         : which == ParameterArena::LossScale ? sizeof(TnLossScale)
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

namespace {
/// One tensor in logical order, cut into ranges for the threads; the values do not depend on the cut.
void initializeTensor(const ParameterInfo &info, int64_t stackIndex, uint64_t seed, DataType type, char *target) {
  constexpr int64_t range = 1 << 16;
  bool whole = info.init.kind == InitializerInfo::Kind::Orthogonal;
  int64_t step = whole ? std::max<int64_t>(info.elements, 1) : range;
  std::atomic<int64_t> next{0};
  auto work = [&] {
    std::vector<double> values(static_cast<size_t>(std::min(step, info.elements)));
    for (int64_t first; (first = next.fetch_add(step)) < info.elements;) {
      int64_t count = std::min(step, info.elements - first);
      initialValues(info, stackIndex, seed, first, count, values.data());
      withReal(type, [&]<typename Real>(Real) {
        std::copy(values.begin(), values.begin() + count, reinterpret_cast<Real *>(target) + first);
      });
    }
  };
  std::vector<std::thread> threads;
  try {
    while (info.elements > 4 * range && !whole && threads.size() + 1 < static_cast<size_t>(availableCpus()))
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // Fewer threads than wanted only take longer.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
}
} // namespace

Status Parameters::initialize(uint64_t seed) {
  std::vector<char> values;
  for (const ParameterInfo &info : manifest().parameters)
    for (int64_t i = 0; i < info.stackElements; ++i) {
      if (!info.has(i))
        continue;
      values.resize(static_cast<size_t>(info.elements) * byteSize(info.type));
      initializeTensor(info, i, seed, info.type, values.data());
      if (Status status = setAt({&info, i}, values.data()); status.failed())
        return status;
    }
  for (auto &[name, state] : states)
    if (Status status = state.memory.view().write(initialState(state.info).data()); status.failed())
      return status;
  touchModelStates();
  return resetLossScale();
}

std::vector<std::string> Parameters::names() const {
  std::vector<std::string> list;
  for (const ParameterInfo &info : manifest().parameters)
    for (int64_t i = 0; i < info.stackElements; ++i)
      if (info.has(i))
        list.push_back(info.elementName(i));
  return list;
}

Expected<Parameters::Place> Parameters::find(const std::string &name) const {
  auto found = places.find(name);
  if (found == places.end())
    return inputError("the model '", manifest().model, "' has no parameter '", name, "'");
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
  auto place = find(name);
  Status status = place.ok() ? checkAccess(*this, *place, name, bytes, which) : place.status();
  return status.ok() ? getAt(*place, values, which) : status;
}

Status Parameters::set(const std::string &name, const void *values, uint64_t bytes, ParameterArena which) {
  auto place = find(name);
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
