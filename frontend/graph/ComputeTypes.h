// The types that contractions multiply in where the text or a recipe says another one than the policy's `compute`.
#pragma once
#include "frontend/Program.h"
#include <set>

namespace tenon {

/// In exceptions of a policy: what no other one names. No parameter and no layer has this path.
inline constexpr const char *kEveryPath = "*";

/// The layers of the entry's contractions and attentions, each path once.
void addLayers(const Entry &entry, std::map<std::string, LayerPath> &layers);

/// By Dot and Attend nodes: "f64", "f32" or "bf16".
/// - f32 where a value is written as f32 (`let logits: f32[..] = ..`): the contractions that make it, through ops that are
///   elementwise and ops that move elements.
/// - What `exceptions` (by Param::path and LayerPath::path) says of a parameter that a factor is made of, with parameters and
///   numbers alone, or else of the layer in which the contraction stands, or else of kEveryPath.
/// An attention has one type: that of a contraction among its scores, too, and its scores' contractions have it.
std::map<NodeId, std::string> computeTypes(const Entry &entry, const std::vector<Param> &params,
                                           const std::map<std::string, std::string> &exceptions);

/// The nodes that are computed in f64 in a program of f32: values that are written so (`let x: f64[..] = ..`), what they are made
/// of through ops that are elementwise and ops that move elements, and the first other op behind these (a sum, a contraction),
/// whose operands become f64 in front of it; and the contractions that are computed in f64 (computeTypes). Inputs, parameters,
/// states and what a loop hands on are as they are written. An attention and its scores are of one type.
std::set<NodeId> wideNodes(const Entry &entry, const std::map<NodeId, std::string> &computed);

/// Whether a result of a loop's body is handed on in f64: it is a value written so, or one whose elements were moved.
bool isWideResult(const Entry &entry, NodeId result);

} // namespace tenon
