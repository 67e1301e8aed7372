// Loading of parameters, under own names or those of a `names` scheme.
#include "runtime/base/Convert.h"
#include "runtime/base/Json.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/PublicNames.h"
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

/// Collects everything that is wrong with a file before anything is changed.
struct Findings {
  std::vector<std::string> missing, extra, wrong, other;
  Status status(const std::string &path, const LoadOptions &options) const {
    std::string text;
    if (!wrong.empty())
      text += concat("; ", nameList(wrong));
    if (!other.empty() && !options.allowOther)
      text += concat("; ", nameList(other), options.remedy.empty() ? "" : "; " + options.remedy);
    if (!missing.empty() && !options.allowMissing)
      text += concat("; missing: ", nameList(missing),
                     options.allowExtra && !extra.empty() ? concat("; not in the model: ", nameList(extra)) : "",
                     options.remedyMissing.empty() ? "" : "; " + options.remedyMissing);
    if (!extra.empty() && !options.allowExtra)
      text += concat("; not in the model: ", nameList(extra));
    return text.empty() ? Status() : inputError("'", path, "' does not fit the model: ", text.substr(2));
  }
};

/// The first number of a tensor that parameters of this type cannot hold, in words; empty if there is none.
Expected<std::string> numberBeyond(const SafetensorsFile &file, const SafetensorsEntry &entry, DataType stored) {
  if (rowOf(entry.type).largest <= rowOf(stored).largest)
    return std::string();
  constexpr uint64_t chunk = 1 << 16;
  std::vector<double> values(std::min(chunk, entry.elements()));
  for (uint64_t first = 0; first < entry.elements(); first += chunk) {
    uint64_t count = std::min(chunk, entry.elements() - first);
    if (Status status = file.readReals(entry, first, count, DataType::F64, values.data()); status.failed())
      return status;
    for (uint64_t i = 0; i < count; ++i)
      if (isBeyond(values[i], stored))
        return concat(entry.name, ": element ", placeText(first + i, entry.shape), " is ", values[i], ", more than ",
                      isStoredReal(stored) ? concat(nameOf(stored), " holds") : concat(8 * byteSize(stored), "-bit numbers hold"),
                      " (", rowOf(stored).largestText, "); scale the weights, or ",
                      isStoredReal(stored) ? "keep parameters in f32 (`params` of the recipe's numerics)" : "use --f64");
  }
  return std::string();
}

} // namespace

/// Rows of `values` from `have` on become copies of earlier ones, by their numbers in `from`, the first again behind the last.
static void copyRows(char *values, uint64_t have, uint64_t all, uint64_t bytes, const std::vector<uint64_t> &from) {
  for (uint64_t row = have; row < all; ++row)
    memcpy(values + row * bytes, values + from[(row - have) % from.size()] * bytes, bytes);
}

/// `unfit`: tensors of another shape than the parameter's, which stay unread. `rows`: as in LoadOptions.
static Status readPieces(const SafetensorsFile &file, const std::vector<Piece> &pieces, Parameters &parameters,
                         ParameterArena arena, const std::set<std::string> &unfit = {}, const std::vector<uint64_t> &rows = {}) {
  std::vector<char> values;
  for (size_t i = 0; i < pieces.size();) {
    const Piece &first = pieces[i];
    const DataType type = first.place.info->type;
    const uint64_t size = byteSize(type);
    values.resize(static_cast<size_t>(first.place.info->elements) * size);
    bool complete = true;
    for (; i < pieces.size() && pieces[i].place.info == first.place.info && pieces[i].place.stackIndex == first.place.stackIndex;
         ++i) {
      const Piece &piece = pieces[i];
      const SafetensorsEntry *entry = file.find(piece.tensor);
      if (!entry || unfit.count(piece.tensor)) { // allowed to be missing, or other
        complete = false;
        continue;
      }
      const uint64_t count = std::min(piece.count, entry->elements()); // fewer: the rest of what grows keeps its values
      if (count < piece.count)
        if (Status status = parameters.getAt(first.place, values.data(), arena); status.failed())
          return status;
      Status status = file.readReals(*entry, piece.publicFirst, count, type, values.data() + piece.ownFirst * size);
      if (status.failed())
        return status;
      if (count < piece.count && !rows.empty())
        copyRows(values.data(), entry->shape[0], piece.shape[0], piece.count / piece.shape[0] * size, rows);
      if (piece.transpose)
        transposeInPlace(values, piece.shape, type);
    }
    if (complete)
      if (Status status = parameters.setAt(first.place, values.data(), arena); status.failed())
        return status;
  }
  return {};
}

/// Tensors of the file that parameters have under a scheme; 0 where the scheme does not name all of them.
static size_t tensorsUnder(const Manifest &manifest, const SafetensorsFile &file, const std::string &scheme) {
  auto has = [&](const std::string &name) { return file.find(name) != nullptr; };
  std::vector<Piece> pieces;
  if (allPieces(manifest.parameters, scheme, has, pieces).failed())
    return 0;
  std::set<std::string> found;
  for (const Piece &piece : pieces)
    if (has(piece.tensor))
      found.insert(piece.tensor);
  return found.size();
}

/// "; 12 of its 14 tensors have names of the table hf (--names hf)" where another scheme than the one that was asked for fits
/// better, else nothing.
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
                best.empty() ? std::string("Tenon's own names (no --names)")
                             : concat("names of the table ", best, " (--names ", best, ")"));
}

static bool fits(const SafetensorsEntry &entry, const StateInfo &state) {
  return entry.type == state.type || (isReal(entry.type) && isReal(state.type));
}

/// The element `index` of a state of the model; reals in its type.
static Status readElement(const SafetensorsFile &file, const SafetensorsEntry &entry, const ModelState &state, int64_t index) {
  const DeviceView element = state.element(index);
  return fillView(element, [&](char *values) {
    const uint64_t count = element.size() / byteSize(state.info.type);
    return entry.type == state.info.type ? file.read(entry, values) : file.readReals(entry, 0, count, state.info.type, values);
  });
}

/// What a weights file says of itself beside its tensors.
static void takeNotes(const SafetensorsFile &file, Parameters &parameters) {
  parameters.notes.clear();
  if (auto found = file.metadata().find(kVocabularyNote); found != file.metadata().end())
    parameters.notes.insert(*found);
}

namespace {
/// What is found about the tensors of a file before anything is read.
struct Examination {
  const std::string &path;
  const SafetensorsFile &file;
  const LoadOptions &options;
  Findings findings;
  LoadReport report;
  std::set<std::string> used, unfit; // tensors: looked at; of another shape, which stay unread

  /// Whether the file has the first rows of a parameter that may have more.
  bool grows(const Piece &piece, const std::string &own) {
    const SafetensorsEntry *entry = options.grow.count(own) ? file.find(piece.tensor) : nullptr;
    const bool isWhole = piece.publicFirst == 0 && !piece.transpose && piece.count == uint64_t(piece.place.info->elements);
    if (!entry || !isWhole || piece.shape.empty() || entry->shape.size() != piece.shape.size() ||
        entry->shape[0] >= piece.shape[0] || !std::equal(entry->shape.begin() + 1, entry->shape.end(), piece.shape.begin() + 1))
      return false;
    report.grown.push_back({own, entry->shape[0]});
    for (uint64_t row : options.rows)
      if (row >= entry->shape[0])
        findings.wrong.push_back(concat(piece.tensor, " has ", counted(entry->shape[0], "row"), ", and no row ", row));
    return true;
  }

  /// A `tensor` that is to be read into `own`.
  void examine(const std::string &own, const std::string &tensor, const Shape &shape, const Shape &fine, bool typeFits) {
    const SafetensorsEntry *entry = file.find(tensor);
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
  }

  Status examinePieces(const std::vector<Piece> &pieces) {
    std::set<std::string> looked;
    for (const Piece &piece : pieces) {
      const SafetensorsEntry *entry = file.find(piece.tensor);
      if (entry && isReal(entry->type) && looked.insert(piece.tensor).second) {
        auto problem = numberBeyond(file, *entry, piece.place.info->stored);
        if (!problem.ok())
          return problem.status();
        if (!problem->empty())
          findings.wrong.push_back(*problem);
      }
      std::string own = piece.place.info->elementName(piece.place.stackIndex);
      const Shape shape = grows(piece, own) ? entry->shape : piece.shape, fine = shape == piece.shape ? piece.fine : shape;
      examine(own, piece.tensor, shape, fine, !entry || isReal(entry->type));
      if (entry && !unfit.count(piece.tensor) && (report.loaded.empty() || report.loaded.back() != own))
        report.loaded.push_back(own);
    }
    return {};
  }

  /// Tensors that nobody has looked at, but for copies of those.
  Status noteOthers() {
    for (const SafetensorsEntry &entry : file.entries()) {
      if (used.count(entry.name))
        continue;
      auto tied = isTiedCopy(file, entry, used);
      if (!tied.ok())
        return tied.status();
      if (!*tied)
        findings.extra.push_back(entry.name);
    }
    return {};
  }
};
} // namespace

/// What the file lacks of it is the parameter or state that it starts as, or stays.
Status Parameters::readState(const SafetensorsFile &file, const std::set<std::string> &unfit, const std::string &scheme,
                             ModelState &state) {
  const std::vector<std::string> names = stateNames(state.info, scheme);
  bool complete = true;
  for (int64_t i = 0; i < countOf(state.info); ++i) {
    const std::string name = names.empty() ? std::string() : names[static_cast<size_t>(i)];
    if (const SafetensorsEntry *entry = unfit.count(name) ? nullptr : file.find(name)) {
      if (Status status = readElement(file, *entry, state, i); status.failed())
        return status;
      continue;
    }
    auto copied = copySource(state, i);
    if (!copied.ok())
      return copied.status();
    complete &= *copied;
  }
  state.given |= complete;
  return {};
}

Expected<LoadReport> Parameters::load(const std::string &path, const LoadOptions &options) {
  auto file = SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  std::vector<Piece> pieces;
  Status status = allPieces(
      tensorsIn(ParameterArena::Values), options.scheme, [&](const std::string &name) { return file->find(name) != nullptr; },
      pieces);
  if (status.failed())
    return status;
  Examination found{path, *file, options, {}, {}, {}, {}};
  if (status = found.examinePieces(pieces); status.failed())
    return status;
  for (const auto &[key, state] : states) {
    const std::vector<std::string> own = stateNames(state.info), names = stateNames(state.info, options.scheme);
    for (size_t i = 0; i < names.size(); ++i) {
      const SafetensorsEntry *entry = file->find(names[i]);
      found.examine(own[i], names[i], stateShape(state.info), stateShape(state.info), !entry || fits(*entry, state.info));
    }
  }
  if (status = found.noteOthers(); status.failed())
    return status;
  if (status = found.findings.status(path, options); status.failed())
    return Status(status.kind(), status.message() + betterScheme(manifest(), *file, options.scheme));
  if (found.report.loaded.empty() && !pieces.empty()) // all may be missing, but that is no load
    if (std::string better = betterScheme(manifest(), *file, options.scheme); !better.empty())
      return inputError("'", path, "' has none of the parameters of this model", better);
  found.report.missing = found.findings.missing;
  found.report.extra = found.findings.extra;
  status = readPieces(*file, pieces, *this, ParameterArena::Values, found.unfit, options.rows);
  for (ModelState *state : statesInOrder())
    if (status.ok())
      status = readState(*file, found.unfit, options.scheme, *state);
  touchModelStates();
  if (status.failed())
    return status;
  takeNotes(*file, *this);
  return found.report;
}

static Status ownPieces(const std::vector<ParameterInfo> &tensors, std::vector<Piece> &pieces) {
  return allPieces(tensors, "", [](const std::string &) { return true; }, pieces);
}

Status Parameters::checkArena(const SafetensorsFile &file, ParameterArena which) const {
  std::vector<Piece> pieces;
  if (Status status = ownPieces(tensorsIn(which), pieces); status.failed())
    return status;
  Findings findings;
  auto fits = [&](DataType type) { // whatever the numerics of the run were
    return isComputedReal(type) || (which == ParameterArena::Values && isReal(type));
  };
  for (const Piece &piece : pieces) {
    const SafetensorsEntry *entry = file.find(piece.tensor);
    if (!entry) {
      findings.missing.push_back(piece.tensor);
      continue;
    }
    if (!fits(entry->type) || entry->shape != piece.shape) {
      findings.wrong.push_back(concat(piece.tensor, " has type ", nameOf(entry->type), " and shape ", shapeText(entry->shape)));
      continue;
    }
    auto problem = numberBeyond(file, *entry, typeOf(*piece.place.info, which));
    if (!problem.ok())
      return problem.status();
    if (!problem->empty())
      findings.wrong.push_back(*problem);
  }
  if (Status status = findings.status(file.path(), {}); status.failed() || which != ParameterArena::Values)
    return status;
  for (const auto &[key, state] : states) {
    const std::vector<std::string> names = stateNames(state.info);
    for (const std::string &name : names) {
      const SafetensorsEntry *entry = file.find(name);
      if (!entry || !tenon::runtime::fits(*entry, state.info) ||
          entry->elements() * byteSize(state.info.type) != state.memory.size() / names.size())
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
    status = ownPieces(tensorsIn(which), pieces);
  if (status.ok())
    status = readPieces(file, pieces, *this, which);
  if (status.failed() || which != ParameterArena::Values)
    return status;
  takeNotes(file, *this);
  for (auto &[key, state] : states) {
    const std::vector<std::string> names = stateNames(state.info);
    for (size_t i = 0; i < names.size(); ++i)
      if (status = readElement(file, *file.find(names[i]), state, static_cast<int64_t>(i)); status.failed())
        return status;
    state.given = true;
  }
  touchModelStates();
  return {};
}

} // namespace tenon::runtime
