// Which run of which public tensor belongs to which parameter: the plan of every load and save.
#pragma once
#include "runtime/base/Shapes.h"
#include "runtime/parameters/Parameters.h"

namespace tenon::runtime {

/// One run of a public tensor that belongs to one parameter element: elements [first, first + count) of both, in order.
struct Piece {
  Parameters::Place place;
  std::string tensor;       // public name
  Shape shape;              // of the whole public tensor
  Shape fine;               // the same with all axes of the parameter, where they are in the order of the public tensor
  uint64_t publicFirst = 0; // elements
  uint64_t ownFirst = 0;
  uint64_t count = 0;
  bool transpose = false;
  bool copy = false; // read only, where another parameter writes the tensor
};

/// All pieces of the parameters of a model, or of what else lies in an arena, under a scheme ("" = own names), those of one
/// element together. `has` tells which public names can be used, to pick among tied copies.
Status allPieces(const std::vector<ParameterInfo> &tensors, const std::string &scheme,
                 const std::function<bool(const std::string &)> &has, std::vector<Piece> &pieces);

/// `data`: an element of shape `shape` (two axes other than 1), becomes its transpose.
void transposeInPlace(std::vector<char> &data, const Shape &shape, DataType type);

/// Names of the stack elements of a state of the model under a scheme ("" = own names; none where the scheme has none for it),
/// and the shape of each.
std::vector<std::string> stateNames(const StateInfo &info, const std::string &scheme = {});
Shape stateShape(const StateInfo &info);
int64_t countOf(const StateInfo &info);  // stack elements
uint64_t bytesOf(const StateInfo &info); // of all of them

} // namespace tenon::runtime
