#include "runtime/parameters/PublicNames.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <iterator>
#include <numeric>

namespace tenon::runtime {

using Transform = PublicNameInfo::Transform;
using Has = std::function<bool(const std::string &)>;

namespace {
/// The pieces of one parameter element.
Status piecesOf(const Parameters::Place &place, const PublicNameInfo &name, const Has &has, std::vector<Piece> &pieces) {
  const ParameterInfo &info = *place.info;
  const Shape own(info.shape.begin(), info.shape.end()), shape(info.published.begin(), info.published.end());
  uint64_t elements = static_cast<uint64_t>(info.elements);
  std::string chosen = name.name;
  for (const std::string &other : name.also)
    if (!has(chosen) && has(other))
      chosen = other;
  Piece piece{place, chosen, shape, own, 0, 0, elements, false, name.copy};
  switch (name.transform) {
  case Transform::None:
    break;
  case Transform::Transpose:
    if (withoutOnes(shape).size() > 2 || shape.size() < 2)
      return inputError("'", name.name, "' cannot be transposed: ", info.elementName(place.stackIndex), " has shape ",
                        shapeText(shape));
    piece.transpose = withoutOnes(shape).size() == 2; // with an axis of size 1 the order of elements is the same
    std::reverse(piece.shape.begin(), piece.shape.end());
    piece.fine = piece.shape;
    break;
  case Transform::Flatten:
    if (shape.size() < 2)
      return inputError("'", name.name, "' cannot have the first two axes as one: ", info.elementName(place.stackIndex),
                        " has shape ", shapeText(shape));
    piece.shape[1] *= piece.shape[0]; // a parameter's elements, which were counted
    piece.shape.erase(piece.shape.begin());
    break;
  case Transform::Part:
    if (shape.empty())
      return inputError("'", name.name, "' cannot hold parts of the scalar ", info.elementName(place.stackIndex));
    piece.shape[0] *= static_cast<uint64_t>(name.parts);
    piece.fine[0] *= static_cast<uint64_t>(name.parts);
    piece.publicFirst = elements * static_cast<uint64_t>(name.part);
    break;
  case Transform::Stacked: {
    if (shape.empty())
      return inputError("'", name.name, "' cannot be a stack: ", info.elementName(place.stackIndex), " is a scalar");
    piece.shape.erase(piece.shape.begin());
    piece.fine = own[0] == shape[0] ? Shape(own.begin() + 1, own.end()) : piece.shape;
    for (uint64_t i = 0; i < shape[0]; ++i) {
      Piece slice = piece;
      slice.tensor.replace(slice.tensor.find('#'), 1, std::to_string(i));
      slice.count = elements / shape[0];
      slice.ownFirst = i * slice.count;
      pieces.push_back(std::move(slice));
    }
    return {};
  }
  }
  pieces.push_back(std::move(piece));
  return {};
}
} // namespace

Status allPieces(const std::vector<ParameterInfo> &tensors, const std::string &scheme, const Has &has,
                 std::vector<Piece> &pieces) {
  for (const ParameterInfo &info : tensors)
    for (int64_t i = 0; i < info.stackElements; ++i) {
      if (!info.has(i))
        continue;
      if (scheme.empty()) { // own names have the own axes
        const Shape shape(info.shape.begin(), info.shape.end());
        pieces.push_back({{&info, i}, info.elementName(i), shape, shape, 0, 0, static_cast<uint64_t>(info.elements), false});
        continue;
      }
      auto list = info.names.find(scheme);
      if (list == info.names.end())
        return usageError("the artifact has no names '", scheme, "' for parameter '", info.elementName(i), "'");
      if (Status status = piecesOf({&info, i}, list->second[static_cast<size_t>(i)], has, pieces); status.failed())
        return status;
    }
  return {};
}

template <typename T> static void transposeInto(const T *from, T *to, uint64_t rows, uint64_t columns) {
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j)
      to[j * rows + i] = from[i * columns + j];
}

void transposeInPlace(std::vector<char> &data, const Shape &shape, DataType type) {
  Shape sizes = withoutOnes(shape);
  std::vector<char> copy = data;
  withBits(byteSize(type), [&]<typename T>(T) {
    transposeInto(reinterpret_cast<const T *>(copy.data()), reinterpret_cast<T *>(data.data()), sizes[0], sizes[1]);
  });
}

std::vector<std::string> stateNames(const StateInfo &info, const std::string &scheme) {
  std::vector<std::string> names;
  if (!scheme.empty()) {
    if (auto found = info.names.find(scheme); found != info.names.end())
      for (const PublicNameInfo &name : found->second)
        names.push_back(name.name);
    return names;
  }
  for (int64_t i = 0; i < countOf(info); ++i)
    names.push_back(expandStars(info.name, info.stack, i));
  return names;
}

int64_t countOf(const StateInfo &info) {
  return std::accumulate(info.stack.begin(), info.stack.end(), int64_t(1), std::multiplies<>());
}

uint64_t bytesOf(const StateInfo &info) {
  const Shape shape = stateShape(info);
  const uint64_t bytes = static_cast<uint64_t>(countOf(info)) * byteSize(info.type);
  return std::accumulate(shape.begin(), shape.end(), bytes, std::multiplies<>());
}

Shape stateShape(const StateInfo &info) {
  Shape shape;
  for (const SizeForm &size : info.shape)
    shape.push_back(static_cast<uint64_t>(size.constant));
  return shape;
}

} // namespace tenon::runtime
