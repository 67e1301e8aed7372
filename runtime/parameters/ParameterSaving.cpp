// Saving of parameters, under own names or those of a `names` scheme, as one file or as shards.
#include "runtime/base/Convert.h"
#include "runtime/base/Json.h"
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/PublicNames.h"
#include "runtime/parameters/WideValues.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>

namespace tenon::runtime {

using Group = std::vector<Piece>; // the pieces of one tensor of a file, in the order of their elements

/// The widest of its pieces, each of which is one parameter or a part of one.
static DataType typeOf(const Parameters &parameters, ParameterArena arena, const Group &group) {
  DataType widest = parameters.typeOf(*group[0].place.info, arena);
  for (const Piece &piece : group)
    if (const DataType own = parameters.typeOf(*piece.place.info, arena); byteSize(own) > byteSize(widest))
      widest = own;
  return widest;
}

/// An element of a state of the model that goes along.
struct StateTensor {
  const ModelState *state;
  int64_t index;
  std::string name;
};

/// Those under a scheme; the names of copies are left out, to stand in `copies` if that is given, each with who copies it.
static std::vector<StateTensor> statesOf(const Parameters &parameters, ParameterArena arena, const std::string &scheme,
                                         std::map<std::string, std::string> *copies = nullptr) {
  std::vector<StateTensor> tensors;
  if (arena != ParameterArena::Values)
    return tensors;
  for (const auto &[key, state] : parameters.modelStates()) {
    const std::vector<std::string> names = stateNames(state.info, scheme), own = stateNames(state.info);
    const auto given = state.info.names.find(scheme);
    for (size_t i = 0; i < names.size(); ++i)
      if (!scheme.empty() && given->second[i].copy) {
        if (copies)
          copies->emplace(names[i], own[i]);
      } else {
        tensors.push_back({&state, static_cast<int64_t>(i), names[i]});
      }
  }
  return tensors;
}

/// Copies are read alone: what they name is written by others, which have to be there.
static Status dropCopies(const Parameters &parameters, const std::string &scheme, std::vector<Piece> &pieces) {
  std::map<std::string, std::string> copies;
  std::set<std::string> written;
  for (const StateTensor &state : statesOf(parameters, ParameterArena::Values, scheme, &copies))
    written.insert(state.name);
  for (const Piece &piece : pieces)
    if (!piece.copy)
      written.insert(piece.tensor);
    else
      copies.emplace(piece.tensor, piece.place.info->elementName(piece.place.stackIndex));
  for (const auto &[tensor, own] : copies)
    if (!written.count(tensor))
      return inputError("in names '", scheme, "' nothing of this artifact writes '", tensor, "', of which ", own,
                        " is a copy; export under Tenon's own names, or a table with the name without copy(..)");
  std::erase_if(pieces, [](const Piece &piece) { return piece.copy; });
  return {};
}

/// The tensors of a save.
static Status planSave(const Parameters &parameters, ParameterArena arena, const std::string &scheme,
                       std::vector<Group> &groups) {
  std::vector<Piece> pieces;
  auto any = [](const std::string &) { return true; };
  if (Status status = allPieces(parameters.tensorsIn(arena), scheme, any, pieces); status.failed())
    return status;
  if (Status status = dropCopies(parameters, scheme, pieces); status.failed())
    return status;
  std::map<std::string, size_t> byName;
  for (Piece &piece : pieces) {
    auto [place, added] = byName.emplace(piece.tensor, groups.size());
    if (added)
      groups.emplace_back();
    groups[place->second].push_back(std::move(piece));
  }
  for (Group &group : groups) {
    std::sort(group.begin(), group.end(), [](const Piece &a, const Piece &b) { return a.publicFirst < b.publicFirst; });
    uint64_t expected = 0, elements = 1;
    for (uint64_t size : group[0].shape)
      elements *= size;
    bool fits = true;
    for (const Piece &piece : group) {
      if (&piece != &group[0] && piece.publicFirst < expected)
        return inputError("in names '", scheme, "' two parameters are '", group[0].tensor, "': no file can hold both");
      fits &= piece.publicFirst == expected && withoutOnes(piece.shape) == withoutOnes(group[0].shape);
      expected += piece.count;
    }
    if (!fits || expected != elements)
      return inputError("the parts of '", group[0].tensor, "' in names '", scheme, "' do not make up one tensor");
  }
  return {};
}

/// Declares what a file is to hold; `wide` goes with own names.
static void declare(const Parameters &parameters, ParameterArena arena, std::span<const Group> groups,
                    std::span<const StateTensor> states, const WideValues &wide, SafetensorsWriter &writer) {
  if (arena == ParameterArena::Values)
    for (const auto &[key, text] : parameters.notes)
      writer.note(key, text);
  for (const Group &group : groups)
    writer.declare(group[0].tensor, wide.contains(group[0].tensor) ? DataType::F32 : typeOf(parameters, arena, group),
                   group[0].shape);
  writer.note("format", "pt"); // other readers ask for it
  writer.note("tenon.signature", parameters.signature());
  for (const StateTensor &each : states)
    writer.declare(each.name, each.state->info.type, stateShape(each.state->info));
}

static Status writeGroups(const Parameters &parameters, ByteSink &sink, ParameterArena arena, std::span<const Group> groups,
                          std::span<const StateTensor> states, const WideValues &wide = {}) {
  if (!parameters.arena(arena))
    return bugError("this arena is not allocated");
  SafetensorsWriter writer;
  declare(parameters, arena, groups, states, wide, writer);
  Status status = writer.begin(sink);
  auto write = [&](const char *bytes, uint64_t count) { return writer.write(bytes, count); };
  std::vector<char> values, converted;
  for (const Group &group : groups)
    for (const Piece &piece : group) {
      if (status.failed())
        return status;
      if (const auto given = wide.find(piece.tensor); given != wide.end()) {
        status = writer.write(given->second.data(), given->second.size() * sizeof(float));
        continue;
      }
      const ParameterInfo &info = *piece.place.info;
      const DataType type = parameters.typeOf(info, arena), published = typeOf(parameters, arena, group);
      const uint64_t size = byteSize(type);
      if (!piece.transpose && type == published) { // stored as published: no copy
        status = parameters.visitAt(piece.place, arena, piece.ownFirst, piece.count, write);
        continue;
      }
      values.resize(static_cast<size_t>(info.elements) * size);
      auto put = [&, at = uint64_t(0)](const char *bytes, uint64_t count) mutable {
        memcpy(values.data() + at, bytes, count);
        at += count;
        return Status();
      };
      if (status = parameters.visitAt(piece.place, arena, 0, static_cast<uint64_t>(info.elements), put); status.failed())
        return status;
      if (piece.transpose)
        transposeInPlace(values, Shape(piece.shape.rbegin(), piece.shape.rend()), type);
      converted.resize(piece.count * byteSize(published));
      convertReals(type, values.data() + piece.ownFirst * size, piece.count, published, converted.data());
      status = writer.write(converted.data(), converted.size());
    }
  for (const StateTensor &each : states)
    if (status.ok())
      status = visitView(each.state->element(each.index), write);
  return status.ok() ? writer.finish() : status;
}

static Status writeArena(const Parameters &parameters, ByteSink &sink, ParameterArena arena, const std::string &scheme,
                         const WideValues &wide = {}) {
  std::vector<Group> groups;
  if (Status status = planSave(parameters, arena, scheme, groups); status.failed())
    return status;
  return writeGroups(parameters, sink, arena, groups, statesOf(parameters, arena, scheme), wide);
}

Status Parameters::saveShards(const std::string &folder, uint64_t shardBytes, const std::string &scheme) const {
  std::vector<Group> groups;
  if (Status status = planSave(*this, ParameterArena::Values, scheme, groups); status.failed())
    return status;
  auto bytesOf = [&](const Group &group) {
    uint64_t bytes = byteSize(tenon::runtime::typeOf(*this, ParameterArena::Values, group));
    for (uint64_t size : group[0].shape)
      bytes *= size;
    return bytes;
  };
  std::vector<size_t> begins = {0}; // of each shard
  uint64_t filled = 0, total = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    uint64_t bytes = bytesOf(groups[i]);
    if (filled > 0 && filled + bytes > shardBytes) {
      begins.push_back(i);
      filled = 0;
    }
    filled += bytes;
    total += bytes;
  }
  begins.push_back(groups.size());
  const size_t count = begins.size() - 1;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fileError("make", folder, error.value());
  FileBatch batch;
  std::string map;
  for (size_t k = 0; k < count; ++k) {
    char name[64] = "model.safetensors";
    if (count > 1)
      snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", k + 1, count);
    std::span<const Group> mine(groups.data() + begins[k], begins[k + 1] - begins[k]);
    const std::vector<StateTensor> states =
        k + 1 == count ? statesOf(*this, ParameterArena::Values, scheme) : std::vector<StateTensor>();
    Status status = replaceFile(
        concat(folder, "/", name), [&](ByteSink &sink) { return writeGroups(*this, sink, ParameterArena::Values, mine, states); },
        &batch);
    if (status.failed())
      return status;
    for (const Group &group : mine)
      map += concat(map.empty() ? "\n    " : ",\n    ", quoteJson(group[0].tensor), ": ", quoteJson(name));
    for (const StateTensor &each : states)
      map += concat(map.empty() ? "\n    " : ",\n    ", quoteJson(each.name), ": ", quoteJson(name));
  }
  if (count > 1) {
    std::string index = concat("{\n  \"metadata\": {\"total_size\": ", total, "},\n  \"weight_map\": {", map, "\n  }\n}\n");
    Status status = replaceFile(
        folder + "/model.safetensors.index.json", [&](ByteSink &sink) { return sink.write(index.data(), index.size()); }, &batch);
    if (status.failed())
      return status;
  }
  return batch.commit();
}

Status Parameters::saveTo(ByteSink &sink, ParameterArena which) const { return writeArena(*this, sink, which, ""); }

static uint64_t bytesUnderOwnNames(const Parameters &parameters, ParameterArena arena, const WideValues &wide) {
  SafetensorsWriter writer;
  std::vector<Group> groups;
  if (planSave(parameters, arena, "", groups).failed()) // own names always fit
    return 0;
  declare(parameters, arena, groups, statesOf(parameters, arena, ""), wide, writer);
  return writer.fileBytes();
}

uint64_t Parameters::fileBytes(ParameterArena which) const { return bytesUnderOwnNames(*this, which, {}); }

Status saveWideTo(const Parameters &parameters, const WideValues &wide, ByteSink &sink) {
  return writeArena(parameters, sink, ParameterArena::Values, "", wide);
}

uint64_t wideFileBytes(const Parameters &parameters, const WideValues &wide) {
  return bytesUnderOwnNames(parameters, ParameterArena::Values, wide);
}

Status Parameters::save(const std::string &path, ParameterArena which, const std::string &scheme, FileBatch *batch) const {
  return replaceFile(path, [&](ByteSink &sink) { return writeArena(*this, sink, which, scheme); }, batch);
}

} // namespace tenon::runtime
