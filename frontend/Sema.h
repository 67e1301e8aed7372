// The checker: syntax trees to checked programs. All mistakes of a spec are found here.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include <optional>

namespace tenon {

struct CheckOptions {
  std::string path;                                     // the .tn file
  std::string model;                                    // empty: the last model of the file
  std::vector<std::pair<std::string, std::string>> set; // --set D=64, Block=Bottleneck: name, expression text
  std::vector<std::pair<std::string, int64_t>> bind;    // --bind B=8: dims, for every entry
  std::vector<std::pair<std::string, int64_t>>
      recipeBind;                      // --bind-recipe B=8: dims of "eval" and "train", instead of the recipe's
  std::string recipe;                  // train recipe whose step is built; empty: none
  std::vector<std::string> entries;    // empty: all outs, eval and (with a recipe) train
  bool lossesOnly = false;             // one entry, "eval": the recipe's losses without dropout, at sizes that stay open
  bool attentionMaps = false;          // outs and eval also keep what their attends see: graph/AttentionMaps.h
  bool gradient = false;               // without a recipe: the gradient of the sum of all losses will be taken
  std::vector<std::string> modelRoots; // where imports are looked up after the importing file's folder
};

/// Parses `options.path`, its imports and std.tn, checks, and returns the program of the model; nullopt after errors. With a
/// recipe, its `bind` (dims and configs) holds for the entries "eval" and "train"; outs keep their dims symbolic.
std::optional<Program> check(const CheckOptions &options, SourceFiles &sources, Diagnostics &diagnostics);
/// `tenon check FILE`: every model of the file, each out, loss and recipe, in both modes; reports, builds nothing.
bool checkFile(const CheckOptions &options, SourceFiles &sources, Diagnostics &diagnostics);

} // namespace tenon
