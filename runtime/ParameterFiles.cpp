// Loading and saving of parameters, under own names or those of a `names` scheme.
#include "runtime/Json.h"
#include "runtime/Npy.h"
#include "runtime/PublicNames.h"
#include "runtime/Safetensors.h"
#define XXH_INLINE_ALL
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <xxhash.h>

namespace tenon::runtime {

namespace {

std::string nameList(const std::vector<std::string> &names) {
  constexpr size_t shown = 10;
  std::string text;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i)
    text += concat(i ? ", " : "", names[i]);
  return names.size() > shown ? concat(text, " and ", names.size() - shown, " more") : text;
}

template <typename T> void transposeInto(const T *from, T *to, uint64_t rows, uint64_t columns) {
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j)
      to[j * rows + i] = from[i * columns + j];
}

/// `data`: an element of shape `shape` (two axes other than 1), becomes its transpose.
void transposeInPlace(std::vector<char> &data, const Shape &shape, DataType type) {
  Shape sizes = withoutOnes(shape);
  std::vector<char> copy = data;
  if (type == DataType::F64)
    transposeInto(reinterpret_cast<const uint64_t *>(copy.data()), reinterpret_cast<uint64_t *>(data.data()), sizes[0], sizes[1]);
  else
    transposeInto(reinterpret_cast<const uint32_t *>(copy.data()), reinterpret_cast<uint32_t *>(data.data()), sizes[0], sizes[1]);
}

Expected<XXH128_hash_t> hashOf(const SafetensorsFile &file, const SafetensorsEntry &entry) {
  std::vector<char> bytes(entry.end - entry.begin);
  if (Status status = file.read(entry, bytes.data()); status.failed())
    return status;
  return XXH3_128bits(bytes.data(), bytes.size());
}

/// A tensor that equals a used one in type, size and bytes is a tied copy (published files often repeat the table of words).
Expected<bool> isTiedCopy(const SafetensorsFile &file, const SafetensorsEntry &entry, const std::set<std::string> &used) {
  Expected<XXH128_hash_t> own = Status();
  for (const SafetensorsEntry &other : file.entries()) {
    bool candidate = used.count(other.name) && other.type == entry.type && withoutOnes(other.shape) == withoutOnes(entry.shape);
    if (!candidate)
      continue;
    if (!own.ok())
      own = hashOf(file, entry);
    auto hash = hashOf(file, other);
    if (!own.ok() || !hash.ok())
      return own.ok() ? hash.status() : own.status();
    if (XXH128_isEqual(*own, *hash))
      return true;
  }
  return false;
}

/// Names of the stack elements of a state of the model.
std::vector<std::string> stateNames(const StateInfo &info) {
  int64_t count = 1;
  for (int64_t size : info.stack)
    count *= size;
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i)
    names.push_back(expandStars(info.name, info.stack, i));
  return names;
}

Shape stateShape(const StateInfo &info) {
  Shape shape;
  for (const SizeForm &size : info.shape)
    shape.push_back(static_cast<uint64_t>(size.constant));
  return shape;
}

/// Collects everything that is wrong with a file before anything is changed.
struct Findings {
  std::vector<std::string> missing, extra, wrong, other;
  Status status(const std::string &path, const LoadOptions &options) const {
    std::string text;
    if (!wrong.empty())
      text += concat("; ", nameList(wrong));
    if (!other.empty() && !options.allowOther)
      text += concat("; ", nameList(other));
    if (!missing.empty() && !options.allowMissing)
      text += concat("; missing: ", nameList(missing), options.allowExtra && !extra.empty() ? concat("; not in the model: ", nameList(extra)) : "");
    if (!extra.empty() && !options.allowExtra)
      text += concat("; not in the model: ", nameList(extra));
    return text.empty() ? Status() : inputError("'", path, "' does not fit the model: ", text.substr(2));
  }
};

bool isReal(DataType type) {
  return type == DataType::F64 || type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

/// The first number of a tensor that f32 cannot hold, in words; empty if there is none.
Expected<std::string> beyondSingle(const SafetensorsFile &file, const SafetensorsEntry &entry) {
  constexpr uint64_t chunk = 1 << 16;
  std::vector<double> values(std::min(chunk, entry.elements()));
  for (uint64_t first = 0; first < entry.elements(); first += chunk) {
    uint64_t count = std::min(chunk, entry.elements() - first);
    if (Status status = file.readReals(entry, first, count, DataType::F64, values.data()); status.failed())
      return status;
    for (uint64_t i = 0; i < count; ++i)
      if (std::isfinite(values[i]) && !std::isfinite(static_cast<float>(values[i])))
        return concat(entry.name, ": element ", placeText(first + i, entry.shape), " is ", values[i],
                      ", more than 32-bit numbers hold (3.4e38); scale the weights, or use --f64");
  }
  return std::string();
}

} // namespace

/// `unfit`: tensors of another shape than the parameter's, which stay unread.
static Status readPieces(const SafetensorsFile &file, const std::vector<Piece> &pieces, Parameters &parameters, ParameterArena arena,
                         const std::set<std::string> &unfit = {}) {
  DataType type = parameters.manifest().type;
  uint64_t size = byteSize(type);
  std::vector<char> values;
  for (size_t i = 0; i < pieces.size();) {
    const Piece &first = pieces[i];
    values.resize(static_cast<size_t>(first.place.info->elements) * size);
    bool complete = true;
    for (; i < pieces.size() && pieces[i].place.info == first.place.info && pieces[i].place.stackIndex == first.place.stackIndex; ++i) {
      const Piece &piece = pieces[i];
      const SafetensorsEntry *entry = file.find(piece.tensor);
      if (!entry || unfit.count(piece.tensor)) { // allowed to be missing, or other
        complete = false;
        continue;
      }
      Status status = file.readReals(*entry, piece.publicFirst, piece.count, type, values.data() + piece.ownFirst * size);
      if (status.failed())
        return status;
      if (piece.transpose)
        transposeInPlace(values, piece.shape, type);
    }
    if (complete)
      parameters.setAt(first.place, values.data(), arena);
  }
  return {};
}

/// Tensors of the file that parameters have under a scheme; 0 where the scheme does not name all of them.
static size_t tensorsUnder(const Manifest &manifest, const SafetensorsFile &file, const std::string &scheme) {
  auto has = [&](const std::string &name) { return file.find(name) != nullptr; };
  std::vector<Piece> pieces;
  if (allPieces(manifest, scheme, has, pieces).failed())
    return 0;
  std::set<std::string> found;
  for (const Piece &piece : pieces)
    if (has(piece.tensor))
      found.insert(piece.tensor);
  return found.size();
}

/// "; 12 of its 14 tensors have names of the table hf (--names hf)" where another scheme than the one that was asked for fits better, else nothing.
static std::string betterScheme(const Manifest &manifest, const SafetensorsFile &file, const std::string &asked) {
  std::set<std::string> schemes = {""};
  for (const ParameterInfo &info : manifest.parameters)
    for (const auto &[scheme, names] : info.names)
      schemes.insert(scheme);
  std::string best = asked;
  size_t most = tensorsUnder(manifest, file, asked);
  for (const std::string &scheme : schemes)
    if (size_t count = tensorsUnder(manifest, file, scheme); count > most) {
      best = scheme;
      most = count;
    }
  if (best == asked)
    return {};
  return concat("; ", most, " of its ", counted(file.entries().size(), "tensor"), " have ",
                best.empty() ? std::string("Tenon's own names (no --names)") : concat("names of the table ", best, " (--names ", best, ")"));
}

/// What a weights file says of itself beside its tensors.
static void takeNotes(const SafetensorsFile &file, Parameters &parameters) {
  parameters.notes.clear();
  if (auto found = file.metadata().find(kVocabularyNote); found != file.metadata().end())
    parameters.notes.insert(*found);
}

Expected<LoadReport> Parameters::load(const std::string &path, const LoadOptions &options) {
  auto file = SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  std::vector<Piece> pieces;
  Status status = allPieces(manifest(), options.scheme, [&](const std::string &name) { return file->find(name) != nullptr; }, pieces);
  if (status.failed())
    return status;
  Findings findings;
  LoadReport report;
  std::set<std::string> used, unfit;
  auto examine = [&](const std::string &own, const std::string &tensor, const Shape &shape, const Shape &fine, bool typeFits) {
    const SafetensorsEntry *entry = file->find(tensor);
    if (!entry) {
      findings.missing.push_back(own == tensor ? own : concat(own, " (", tensor, ")"));
      if (report.stayed.empty() || report.stayed.back().name != own) // once for several pieces
        report.stayed.push_back({own, concat(path, " lacks ", own == tensor ? "it" : tensor)});
      return;
    }
    used.insert(tensor);
    if (!typeFits)
      findings.wrong.push_back(concat(tensor, " has element type ", nameOf(entry->type)));
    else if (options.scheme.empty() ? withoutOnes(entry->shape) != withoutOnes(shape) : !mergesTo(fine, entry->shape)) {
      findings.other.push_back(concat(tensor, " has shape ", shapeText(entry->shape), ", expected ", shapeText(shape)));
      report.stayed.push_back({own, concat("in ", path, " ", findings.other.back())});
      unfit.insert(tensor);
    }
  };
  std::set<std::string> looked;
  for (const Piece &piece : pieces) {
    const SafetensorsEntry *entry = file->find(piece.tensor);
    if (entry && entry->type == DataType::F64 && manifest().type == DataType::F32 && looked.insert(piece.tensor).second) {
      auto problem = beyondSingle(*file, *entry);
      if (!problem.ok())
        return problem.status();
      if (!problem->empty())
        findings.wrong.push_back(*problem);
    }
    std::string own = piece.place.info->elementName(piece.place.stackIndex);
    examine(own, piece.tensor, piece.shape, piece.fine, !entry || isReal(entry->type));
    if (entry && !unfit.count(piece.tensor) && (report.loaded.empty() || report.loaded.back() != own))
      report.loaded.push_back(own);
  }
  if (options.scheme.empty())
    for (const auto &[key, state] : states)
      for (const std::string &name : stateNames(state.info)) {
        const SafetensorsEntry *entry = file->find(name);
        examine(name, name, stateShape(state.info), {}, !entry || entry->type == state.info.type);
      }
  for (const SafetensorsEntry &entry : file->entries()) {
    if (used.count(entry.name))
      continue;
    auto tied = isTiedCopy(*file, entry, used);
    if (!tied.ok())
      return tied.status();
    if (!*tied)
      findings.extra.push_back(entry.name);
  }
  if (status = findings.status(path, options); status.failed())
    return Status(status.kind(), status.message() + betterScheme(manifest(), *file, options.scheme));
  if (report.loaded.empty() && !pieces.empty()) // all may be missing, but that is no load
    if (std::string better = betterScheme(manifest(), *file, options.scheme); !better.empty())
      return inputError("'", path, "' has none of the parameters of this model", better);
  report.missing = findings.missing;
  report.extra = findings.extra;
  status = readPieces(*file, pieces, *this, ParameterArena::Values, unfit);
  for (auto &[key, state] : states) {
    std::vector<std::string> names = options.scheme.empty() ? stateNames(state.info) : std::vector<std::string>();
    for (size_t i = 0; i < names.size() && status.ok(); ++i)
      if (const SafetensorsEntry *entry = unfit.count(names[i]) ? nullptr : file->find(names[i]))
        status = file->read(*entry, state.bytes.data() + i * (state.bytes.size() / names.size()));
  }
  touchModelStates();
  if (status.failed())
    return status;
  takeNotes(*file, *this);
  return report;
}

static Status ownPieces(const Manifest &manifest, std::vector<Piece> &pieces) {
  return allPieces(manifest, "", [](const std::string &) { return true; }, pieces);
}

Status Parameters::checkArena(const SafetensorsFile &file, ParameterArena which) const {
  std::vector<Piece> pieces;
  if (Status status = ownPieces(manifest(), pieces); status.failed())
    return status;
  Findings findings;
  for (const Piece &piece : pieces) {
    const SafetensorsEntry *entry = file.find(piece.tensor);
    if (!entry)
      findings.missing.push_back(piece.tensor);
    else if (entry->type != manifest().type || entry->shape != piece.shape)
      findings.wrong.push_back(concat(piece.tensor, " has type ", nameOf(entry->type), " and shape ", shapeText(entry->shape)));
  }
  if (Status status = findings.status(file.path(), {}); status.failed() || which != ParameterArena::Values)
    return status;
  for (const auto &[key, state] : states) {
    const std::vector<std::string> names = stateNames(state.info);
    for (const std::string &name : names) {
      const SafetensorsEntry *entry = file.find(name);
      if (!entry || entry->type != state.info.type || entry->end - entry->begin != state.bytes.size() / names.size())
        return inputError("'", file.path(), "' does not fit the model: state '", name, "' is missing or has another size");
    }
  }
  return {};
}

Status Parameters::loadArena(const SafetensorsFile &file, ParameterArena which) {
  std::vector<Piece> pieces;
  Status status = checkArena(file, which);
  if (status.ok())
    status = ensure(which);
  if (status.ok())
    status = ownPieces(manifest(), pieces);
  if (status.ok())
    status = readPieces(file, pieces, *this, which);
  if (status.failed() || which != ParameterArena::Values)
    return status;
  takeNotes(file, *this);
  for (auto &[key, state] : states) {
    const std::vector<std::string> names = stateNames(state.info);
    const uint64_t bytes = state.bytes.size() / names.size();
    for (size_t i = 0; i < names.size(); ++i)
      if (status = file.read(*file.find(names[i]), state.bytes.data() + i * bytes); status.failed())
        return status;
  }
  touchModelStates();
  return {};
}

using Group = std::vector<Piece>; // the pieces of one tensor of a file, in the order of their elements

/// The tensors of a save.
static Status planSave(const Parameters &parameters, const std::string &scheme, std::vector<Group> &groups) {
  std::vector<Piece> pieces;
  if (Status status = allPieces(parameters.manifest(), scheme, [](const std::string &) { return true; }, pieces); status.failed())
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

/// Declares what a file is to hold. `states`: model states go along.
static void declare(const Parameters &parameters, ParameterArena arena, std::span<const Group> groups, bool states, SafetensorsWriter &writer) {
  if (arena == ParameterArena::Values)
    for (const auto &[key, text] : parameters.notes)
      writer.note(key, text);
  for (const Group &group : groups)
    writer.declare(group[0].tensor, parameters.manifest().type, group[0].shape);
  writer.note("format", "pt"); // other readers ask for it
  writer.note("tenon.signature", parameters.signature());
  if (states)
    for (const auto &[key, state] : parameters.modelStates())
      for (const std::string &name : stateNames(state.info))
        writer.declare(name, state.info.type, stateShape(state.info));
}

static Status writeGroups(const Parameters &parameters, ByteSink &sink, ParameterArena arena, std::span<const Group> groups, bool states) {
  if (!parameters.arena(arena))
    return bugError("this arena is not allocated");
  SafetensorsWriter writer;
  declare(parameters, arena, groups, states, writer);
  Status status = writer.begin(sink);
  DataType type = parameters.manifest().type;
  uint64_t size = byteSize(type);
  std::vector<char> values;
  const ParameterInfo *heldInfo = nullptr;
  int64_t heldIndex = -1;
  for (const Group &group : groups)
    for (const Piece &piece : group) {
      if (status.failed())
        return status;
      const ParameterInfo &info = *piece.place.info;
      if (info.layout == ParameterInfo::Layout::Row && !piece.transpose) { // stored as published: no copy
        uint64_t begin = info.offset + info.stride * static_cast<uint64_t>(piece.place.stackIndex) + piece.ownFirst * size;
        status = writer.write(parameters.arena(arena) + begin, piece.count * size);
        continue;
      }
      if (heldInfo != piece.place.info || heldIndex != piece.place.stackIndex || piece.transpose) {
        values.resize(static_cast<size_t>(info.elements) * size);
        parameters.getAt(piece.place, values.data(), arena);
        heldInfo = piece.transpose ? nullptr : piece.place.info;
        heldIndex = piece.place.stackIndex;
      }
      if (piece.transpose) {
        Shape own(piece.shape.rbegin(), piece.shape.rend());
        transposeInPlace(values, own, type);
      }
      status = writer.write(values.data() + piece.ownFirst * size, piece.count * size);
    }
  if (states)
    for (const auto &[key, state] : parameters.modelStates())
      if (status.ok())
        status = writer.write(state.bytes.data(), state.bytes.size());
  return status.ok() ? writer.finish() : status;
}

/// Model states have no public names.
static bool writesStates(ParameterArena arena, const std::string &scheme) { return arena == ParameterArena::Values && scheme.empty(); }

static Status writeArena(const Parameters &parameters, ByteSink &sink, ParameterArena arena, const std::string &scheme) {
  std::vector<Group> groups;
  if (Status status = planSave(parameters, scheme, groups); status.failed())
    return status;
  return writeGroups(parameters, sink, arena, groups, writesStates(arena, scheme));
}

Status Parameters::saveShards(const std::string &folder, uint64_t shardBytes, const std::string &scheme) const {
  std::vector<Group> groups;
  if (Status status = planSave(*this, scheme, groups); status.failed())
    return status;
  auto bytesOf = [&](const Group &group) {
    uint64_t bytes = byteSize(manifest().type);
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
    const bool states = k + 1 == count && writesStates(ParameterArena::Values, scheme);
    Status status = replaceFile(concat(folder, "/", name), [&](ByteSink &sink) { return writeGroups(*this, sink, ParameterArena::Values, mine, states); }, &batch);
    if (status.failed())
      return status;
    for (const Group &group : mine)
      map += concat(map.empty() ? "\n    " : ",\n    ", quoteJson(group[0].tensor), ": ", quoteJson(name));
    for (const auto &[key, state] : states ? this->states : std::map<std::string, ModelState>())
      for (const std::string &tensor : stateNames(state.info))
        map += concat(map.empty() ? "\n    " : ",\n    ", quoteJson(tensor), ": ", quoteJson(name));
  }
  if (count > 1) {
    std::string index = concat("{\n  \"metadata\": {\"total_size\": ", total, "},\n  \"weight_map\": {", map, "\n  }\n}\n");
    Status status = replaceFile(folder + "/model.safetensors.index.json", [&](ByteSink &sink) { return sink.write(index.data(), index.size()); }, &batch);
    if (status.failed())
      return status;
  }
  return batch.commit();
}

Status Parameters::saveTo(ByteSink &sink, ParameterArena which) const { return writeArena(*this, sink, which, ""); }

uint64_t Parameters::fileBytes(ParameterArena which) const {
  SafetensorsWriter writer;
  std::vector<Group> groups;
  if (planSave(*this, "", groups).failed()) // own names always fit
    return 0;
  declare(*this, which, groups, writesStates(which, ""), writer);
  return writer.fileBytes();
}

Status Parameters::save(const std::string &path, ParameterArena which, const std::string &scheme, FileBatch *batch) const {
  return replaceFile(path, [&](ByteSink &sink) { return writeArena(*this, sink, which, scheme); }, batch);
}

} // namespace tenon::runtime
