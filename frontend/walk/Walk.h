// `out step(T)`: a call brings a window of new places along T, earlier ones are kept. Legal if no place needs a later one:
// everything along T is per place, except attends whose mask hides later keys, scans, running sums and causal windows
// (docs/language.md, "Entries that walk").
#pragma once
#include "frontend/walk/FixedParts.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon::sema {

/// The walked axis and the axes that are the same places under other names (x[T -> S]).
std::vector<AxisId> placesOf(const Entry &entry, AxisId walked);
/// Whether `body`, or one around it, is a scan along one of `places`: what stands in it belongs to one place of the walk.
bool isInWalkedScan(const Entry &entry, uint32_t body, const std::vector<AxisId> &places);
/// The place at which such a scan is, taken as an index along the walk: `x[T: t]`.
bool readsPlaceOfScan(const Entry &entry, const Node &gather, const std::vector<AxisId> &places);
/// `next` hands on to the next text what a recurrence along `walked` that begins with `state` has at its last place. In an entry
/// that walks the text has no end, so such a state stays what it was where the text began.
bool endsRecurrence(const Entry &entry, uint32_t state, NodeId next, AxisId walked);
/// The symbolic dim that is the size of the walked axis; nothing if that is a number or another form.
std::optional<unsigned> walkedDim(const Entry &entry, AxisId walked);

/// Where an entry that walks goes on from what its last place left, a carry or the rows of a window, so that it goes back to its
/// beginning alone; null: nowhere.
const Node *goesOnFromLastPlace(const Entry &entry);

/// What in an entry that walks an axis needs places that come later, in words for messages; empty if nothing does.
class Walk {
public:
  Walk(const Entry &entry, AxisId axis)
      : entry(entry), places(placesOf(entry, axis)), dim(walkedDim(entry, axis)), fixed(axesBehindFixed(entry, places)) {}

  std::string objection(const Node &node) const;
  /// A value that goes from layer to layer, or leaves the entry.
  std::string objectionToResult(const Node &node, bool leavesEntry) const;
  /// Every place of one call sees the old value of a state, those of the next call the new one.
  std::string objectionToNext(uint32_t state, NodeId value) const;
  /// Values that depend on how many places there are.
  std::map<NodeId, std::string> objectionsToNumber() const;
  /// Of proofs, about microseconds.
  mutable uint64_t effort = 0;

private:
  const Entry &entry;
  std::vector<AxisId> places;
  std::optional<unsigned> dim;        // the number of places; nothing if that is a number
  const std::map<AxisId, Size> fixed; // axes that end with the places, and how many fixed ones stand in front
  bool countsPlaces(const Size &size) const { return dim && size.coefficients().count(*dim); }
  bool along(AxisId axis) const;
  bool endsAlong(AxisId axis) const { return fixed.count(axis) > 0; }
  bool over(const Node &node) const;
  std::string name(AxisId axis) const;
  std::string it(const Node &node) const;
  std::string concat(const Node &node) const;
  bool standsInScan(const Node &node) const { return isInWalkedScan(entry, node.stack, places); }
  bool mentionsPlaces(NodeId id) const;
  std::string alongTable(const std::string &what, const Node &node) const;
  std::string overTable(const Node &node) const;
  std::string window(const Node &node) const;
  std::string sample(const Node &node) const;
  std::vector<NodeId> keyBounds(const Entry &of, std::vector<NodeId> masks, AxisId key) const;
  bool hidesLater(Entry extended, uint32_t body, const std::vector<AxisId> &queries, AxisId key,
                  const std::vector<NodeId> &masks) const;
  std::vector<NodeId> zeroUnless(std::vector<NodeId> work, Entry &extended) const;
  std::string attend(const Node &node) const;
  std::string sum(const Node &node) const;
};

} // namespace tenon::sema
