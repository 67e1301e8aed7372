// Contexts of entries that walk an axis: places that are kept, and what is prepared once per text.
#include "runtime/context/Context.h"
#include <algorithm>

namespace tenon::runtime {

int64_t Context::capacity() const { return info->positionState < 0 ? -1 : info->capacity.evaluate(dimValues).value_or(0); }

int64_t Context::position() const {
  if (info->positionState < 0 || !device->sharesMemory())
    return info->positionState < 0 ? -1 : keptPlaces;
  return *reinterpret_cast<const int32_t *>(state(info->positionState).hostView());
}

Status Context::rewind(int64_t count) {
  if (info->positionState < 0)
    return usageError("entry '", info->name, "' walks no axis");
  if (count < 0 || count > position())
    return usageError("entry '", info->name, "' keeps ", position(), " places of ", info->walk, "; it cannot go back to ", count);
  for (const StateInfo &state : info->states)
    if (state.ofLastPlace && count != 0 && count != position())
      return usageError("entry '", info->name, "' keeps of '", state.name, "' what the last of its ", position(), " places of ",
                        info->walk, " left; it can go back to 0, not to ", count);
  return setState(info->positionState, [&](char *position) {
    *reinterpret_cast<int32_t *>(position) = static_cast<int32_t>(count);
    return Status();
  });
}

bool Context::goesBackToStartOnly() const {
  return std::any_of(info->states.begin(), info->states.end(), [](const StateInfo &state) { return state.ofLastPlace; });
}

Status Context::checkRoom() const {
  if (info->positionState < 0)
    return {};
  int dim = info->dimIndex(info->walk);
  int64_t count = dim < 0 ? 1 : dimValues[static_cast<size_t>(dim)];
  if (position() >= 0 && position() <= capacity() - count)
    return {};
  return inputError("entry '", info->name, "' keeps at most ", capacity(), " places of ", info->walk, "; ", position(),
                    " are taken, so ", count, " more do not fit");
}

/// The context of the entry that prepares this one. It reads the inputs where the caller of this one writes them.
Status Context::createPreparation() {
  std::map<std::string, int64_t> dims;
  for (const DimInfo &dim : model->manifest().findEntry(info->prepare)->dims)
    dims[dim.name] = dimValues[static_cast<size_t>(info->dimIndex(dim.name))];
  auto made = create(model, info->prepare, dims, pool);
  if (!made.ok())
    return made.status();
  preparation = made.take();
  return {};
}

bool Context::readsInput(int index) const {
  return !info->inputs[static_cast<size_t>(index)].prepared || (preparation && position() == 0);
}

/// At the first call of a text.
Status Context::prepare() {
  if (!preparation || position() != 0)
    return {};
  const size_t own = info->ownInputs();
  for (size_t i = own; i < inputTensors.size(); ++i)
    if (Status status = preparation->borrowInput(static_cast<int>(i - own), input(static_cast<int>(i))); status.failed())
      return status;
  Status status = preparation->run();
  for (size_t i = 0; i < preparation->stateTensors.size() && status.ok(); ++i)
    if (!preparation->info->states[i].ofModel)
      status = state(preparedState(i)).copyFrom(preparation->state(static_cast<int>(i)));
  return status;
}

/// The own state that state `index` of the preparation fills.
int Context::preparedState(size_t index) const {
  size_t own = 0;
  while (stateTensors[own].name != preparation->stateTensors[index].name)
    ++own;
  return static_cast<int>(own);
}

Status Context::copyStatesFrom(const Context &other) {
  for (int pass = 0; pass < 2; ++pass) // nothing is copied unless all fits
    for (size_t i = 0; i < stateTensors.size(); ++i) {
      size_t j = 0;
      while (j < other.stateTensors.size() && other.stateTensors[j].name != stateTensors[i].name)
        ++j;
      if (j == other.stateTensors.size())
        return usageError("entry '", other.info->name, "' has no state '", stateTensors[i].name, "'");
      if (other.stateTensors[j].shape != stateTensors[i].shape || other.stateTensors[j].type != stateTensors[i].type)
        return usageError("the state '", stateTensors[i].name, "' differs in shape between '", info->name, "' and '",
                          other.info->name, "'");
      if (pass == 1 && !info->states[i].ofModel) // which all contexts share
        if (Status status = state(static_cast<int>(i)).copyFrom(other.state(static_cast<int>(j))); status.failed())
          return status;
    }
  return readPosition();
}

} // namespace tenon::runtime
