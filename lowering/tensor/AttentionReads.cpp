// Where the terms of attention read tables: at a linear form, a function of the distance, or any integer function of the pair.
#include "lowering/tensor/AttentionTerms.h"

using namespace mlir;

namespace tenon {

std::string ScoreReader::withoutKey(const Weight &weight) {
  bool dependsOnKey = llvm::any_of(weight.tensors, [](const Weight::Tensor &tensor) { return tensor.value.has(kKey); });
  return dependsOnKey ? "its factor depends on the key, which only a contraction with keys allows" : "";
}

bool ScoreReader::samePlace(const Read &a, const Read &b) const {
  if (!a.place || !b.place) // by an index: of any function of the pair, or of the distance
    return !a.place && !b.place && a.computed == b.computed && a.index == b.index;
  auto text = [&](const Read &read) {
    SmallVector<Attribute> forms;
    for (const MaskForm &form : read.place->forms)
      forms.push_back(toAttribute(form, builder.getContext()));
    return builder.getArrayAttr(forms);
  };
  return text(a) == text(b) && a.place->back == b.place->back;
}

std::optional<ScoreReader::Read> ScoreReader::readAt(Labelled index, bool clamp, std::string &why, bool adds) {
  if (!index.only({kBatch, kQuery, kKey}))
    return why = "the place in its table depends on the head", std::nullopt;
  std::string notLinear;
  Read read{index, clamp, indices.place(index, notLinear), false};
  read.computed = !read.place && !distances.along(index);
  read.adds = adds;
  why = checkPlace(read);
  return why.empty() ? std::optional(read) : std::nullopt;
}

bool ScoreReader::canOrder(const Read &read) { return read.byDistance || (read.index.value && distances.along(read.index)); }

SmallVector<const ScoreReader::Read *> ScoreReader::readsOfTables() const {
  SmallVector<const Read *> reads;
  for (const auto *list : {&positionReads, &keyPositionReads})
    for (const Read &read : *list)
      reads.push_back(&read);
  for (const auto *list : {&scoreTables, &valueTables})
    for (const Table &each : *list)
      reads.push_back(&each.read);
  return reads;
}

std::string ScoreReader::checkPlace(const Read &read) {
  for (const Read *other : readsOfTables())
    if (!samePlace(read, *other) && (!canOrder(read) || !canOrder(*other)) && !(read.adds && other->adds))
      return "not supported yet: relative values, or keys contracted with a table, beside tables at other places, not all at "
             "functions of the distance j - i";
  return {};
}

std::string ScoreReader::addPosition(Labelled a, Labelled table, Labelled index, bool clamp, const Weight &weight) {
  if (table.has(kBatch))
    return kOwnKeys;
  if (!table.only({kPlace, kHead, kContracted}))
    return "its table has a dimension besides place, head and width";
  if (!a.only({kBatch, kQuery, kHead, kContracted}))
    return "its query has a dimension besides batch, query, head and width";
  std::string why = withoutKey(weight);
  if (!why.empty())
    return why;
  std::optional<Read> read = readAt(index, clamp, why);
  if (!read)
    return why;
  positions.push_back({weighted(a, weight.tensors), table, weight.number});
  positionReads.push_back(*read);
  return {};
}

/// The mirror of a position term: keys ask, the table answers for the query's place (He et al. 2021, position to content).
std::string ScoreReader::addKeyPosition(const Labelled &a, const Labelled &table, const Labelled &index, bool clamp,
                                        const Weight &weight) {
  if (!table.only({kPlace, kHead, kContracted}))
    return "its table has a dimension besides place, head and width";
  if (!a.only({kBatch, kKey, kHead, kContracted}))
    return "its key has a dimension besides batch, key, head and width";
  if (llvm::any_of(weight.tensors, [](const Weight::Tensor &tensor) { return tensor.value.has(kQuery); }))
    return "its factor depends on the query, which only a contraction with queries allows";
  std::string why;
  std::optional<Read> read = readAt(index, clamp, why, /*adds=*/false);
  if (!read)
    return why;
  if (read->computed)
    return "not supported yet: keys contracted with a table at " + std::string(kNoDistance);
  keyPositions.push_back({weighted(a, weight.tensors), table, weight.number});
  keyPositionReads.push_back(*read);
  return {};
}

} // namespace tenon
