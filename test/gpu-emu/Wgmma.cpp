// Products of warpgroups: wgmma.mma_async, whose operands lie in shared memory where descriptors say, its fence and its groups.
// Operands are read until a wait. Sums are there behind it: a lane has names in their place, which only another product, and the
// statement that holds code behind a wait, have the sums of.
#include "Async.h"
#include "Memory.h"
#include "Models.h"
#include "Shadow.h"
#include "Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>
#include <map>

namespace tenon::emu {
namespace {

constexpr uint32_t kAll = ~0u;
constexpr unsigned kRows = 64, kDepth = 16, kMostColumns = 256;

/// What a product of a warp made, by lanes.
struct Sums {
  uint64_t group; // as they were committed
  std::vector<float> values;
};

/// Of a warp.
struct Products {
  bool open = false, some = false; // behind a fence; products that no group has
  std::deque<Sync> groups;         // in checked mode, what ends with each
  uint64_t done = 0;               // groups that were waited for
  uint64_t forgotten = 0;          // products that nothing can name any more, before those ..
  std::deque<Sums> made;           // .. of these
  void clear() {
    for (Sync &group : groups)
      group.clear();
    groups.clear();
    made.clear();
    done = forgotten = 0;
    open = some = false;
  }
};
std::vector<Products> products; // by warp

Products &ofWarp(uint32_t warp) {
  if (products.size() < machine.warps.size())
    products.resize(machine.warps.size());
  return products[warp];
}

/// The name of a sum is a signalling NaN, which moves keep and arithmetic does not, of the product's number and the sum's.
constexpr uint32_t kName = 0x7fa00000, kNameBits = 21, kSumBits = 7;
constexpr size_t kMostMade = 64; // products that are remembered: more than one tile has

float nameOf(uint64_t product, unsigned sum) {
  const uint32_t bits = kName | ((uint32_t(product) << kSumBits) & ((1u << kNameBits) - 1)) | sum;
  float name;
  memcpy(&name, &bits, sizeof name);
  return name;
}

/// The product that a number names, null where it names none.
const Sums *namedBy(const Products &own, float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  if (bits >> kNameBits != kName >> kNameBits)
    return nullptr;
  const size_t place = ((bits >> kSumBits) - uint32_t(own.forgotten)) & ((1u << (kNameBits - kSumBits)) - 1);
  return place < own.made.size() ? &own.made[place] : nullptr;
}

float valueIn(const Sums &sums, float name, uint32_t lane) {
  uint32_t bits;
  memcpy(&bits, &name, sizeof bits);
  return sums.values[lane * (sums.values.size() / kWarp) + (bits & ((1u << kSumBits) - 1))];
}

/// Where an element of an operand lies, by the canonical layouts that CUTLASS publishes (include/cute/arch/mma_sm90_desc.hpp).
class Descriptor {
public:
  Descriptor(uint64_t bits, bool transposed)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        swizzle(kSwizzles[bits >> 62]), transposed(transposed), isLegal((bits & kUnused) == 0) {}
  /// `line`: row of the first operand, column of the second.
  uint64_t at(unsigned line, unsigned depth) const {
    const unsigned width = swizzle ? swizzle : 16, elements = width / 2;
    uint64_t address = start;
    if (!transposed)
      address += line / 8 * stride + line % 8 * width + (swizzle ? 2 * depth : depth / 8 * leading + depth % 8 * 2);
    else if (swizzle)
      address += line / elements * leading + depth / 8 * stride + depth % 8 * width + line % elements * 2;
    else
      address += line / 8 * stride + depth / 8 * leading + depth % 8 * 16 + line % 8 * 2;
    return sharedArena() + (turned(address, swizzle) & (kArena - 1));
  }
  bool legal() const { return isLegal; }

private:
  static constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
  static constexpr uint64_t kUnused = 0x3fff'c000'c000'c000; // with the offset of tiles that are not aligned
  uint64_t start, leading, stride;
  uint32_t swizzle;
  bool transposed, isLegal;
};

float valueOf(bool isF16, uint16_t bits) { return isF16 ? fromF16(bits) : fromBf16(bits); }

/// The elements of 16 steps of the depth, `lines` from the first one on.
void read(const Site &site, uint32_t warp, const Descriptor &operand, unsigned first, unsigned lines, bool isF16,
          float (*values)[kDepth]) {
  const Thread &issuer = threadOf(warp, 0);
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned k = 0; k < kDepth; ++k) {
      const uint64_t address = operand.at(first + line, k);
      if (machine.mode.checked)
        shadowEngineRead(site, issuer, productEngine(warp), address, 2);
      uint16_t bits;
      memcpy(&bits, reinterpret_cast<const void *>(address), sizeof bits);
      values[line][k] = valueOf(isF16, bits);
    }
}

/// The first operand of the warp's 16 rows and 16 steps, in registers: of four values of 32 bits, two elements each, as CUTLASS
/// publishes it (ALayout_64x16, include/cute/atom/mma_traits_sm90_gmma.hpp).
void readFragment(uint32_t warp, bool isF16, float (*values)[kDepth]) {
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const auto both = argument<uint32_t>(threadOf(warp, lane).arguments, i / 2);
      values[lane / 4 + 8 * (i / 2 % 2)][2 * (lane % 4) + i % 2 + 8 * (i / 4)] = valueOf(isF16, uint16_t(both >> 16 * (i % 2)));
    }
}

/// Number of the argument that describes the second operand; in front of it is the first one, behind it are the sums.
constexpr unsigned secondOf(int form) { return form & kFragmentA ? 4 : 1; }

/// D += A B of 16 rows of the warp's: in order of the depth in f32. Value i of a lane is that of row lane / 4 + 8 (i / 2 % 2) and
/// column 8 (i / 4) + 2 (lane % 4) + i % 2.
void multiply(const Site &site, uint32_t warp, uint32_t) {
  const int form = site.model->parameter;
  const unsigned columns = unsigned(form) >> kFormBits, count = columns / 2;
  const unsigned second = secondOf(form);
  ++machine.products;
  const uint64_t *arguments = threadOf(warp, 0).arguments;
  for (unsigned lane = 1; lane < kWarp; ++lane)
    if (const uint64_t *others = threadOf(warp, lane).arguments;
        others[second] != arguments[second] || (!(form & kFragmentA) && others[0] != arguments[0]))
      fail("wrong product",
           nameOf(threadOf(warp, lane)) + " gives other descriptors than lane 0 of its warp, at " + placeOf(site));
  Products &own = ofWarp(warp);
  if (!own.open)
    report("wrong product",
           "a warp multiplies without wgmma.fence before its first product or behind a wait, at " + placeOf(site));
  own.some = true;
  const Descriptor a(form & kFragmentA ? 0 : arguments[0], form & kTransposedA), b(arguments[second], form & kTransposedB);
  if (!a.legal() || !b.legal())
    fail("wrong product", "a descriptor has bits that mean nothing here, " +
                              llvm::utohexstr(a.legal() ? arguments[second] : arguments[0]) + ", at " + placeOf(site));
  if (machine.mode.checked) {
    Sync issue;
    issue.add(threadOf(warp, 0).index);
    issue.take(productEngine(warp), false);
    issue.clear();
  }
  static float rows[kRows / 4][kDepth], lines[kMostColumns][kDepth], factors[kDepth][kMostColumns], sums[kRows / 4][kMostColumns];
  if (form & kFragmentA)
    readFragment(warp, form & kHalf, rows);
  else
    read(site, warp, a, warp % 4 * 16, 16, form & kHalf, rows);
  read(site, warp, b, 0, columns, form & kHalf, lines);
  for (unsigned n = 0; n < columns; ++n)
    for (unsigned k = 0; k < kDepth; ++k)
      factors[k][n] = lines[n][k];
  const auto overSums = [&](auto visit) {
    for (unsigned lane = 0; lane < kWarp; ++lane)
      for (unsigned i = 0; i < count; ++i)
        visit(threadOf(warp, lane), i, sums[lane / 4 + 8 * (i / 2 % 2)][8 * (i / 4) + 2 * (lane % 4) + i % 2]);
  };
  overSums([&](Thread &thread, unsigned i, float &sum) {
    sum = form & kFresh ? 0 : argument<float>(thread.arguments, second + 1 + i);
    if (const Sums *named = form & kFresh ? nullptr : namedBy(own, sum))
      sum = valueIn(*named, sum, thread.lane);
  });
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < kDepth; ++k)
      for (unsigned n = 0; n < columns; ++n)
        sums[row][n] += rows[row][k] * factors[k][n];
  if (own.made.size() == kMostMade) {
    own.made.pop_front();
    ++own.forgotten;
  }
  const uint64_t number = own.forgotten + own.made.size();
  Sums &made = own.made.emplace_back(Sums{own.done + own.groups.size(), std::vector<float>(size_t(kWarp) * count)});
  overSums([&](Thread &thread, unsigned i, float &sum) {
    made.values[thread.lane * count + i] = sum;
    static_cast<float *>(thread.result)[i] = nameOf(number, i);
  });
}

void open(const Site &, uint32_t warp, uint32_t) { ofWarp(warp).open = true; }

void commit(const Site &, uint32_t warp, uint32_t) {
  Products &own = ofWarp(warp);
  own.groups.emplace_back();
  own.some = false;
  if (machine.mode.checked)
    own.groups.back().add(productEngine(warp));
}

void wait(const Site &, uint32_t warp, uint32_t) {
  Products &own = ofWarp(warp);
  own.open = false;
  while (own.groups.size() > threadOf(warp, 0).arguments[0]) {
    for (unsigned lane = 0; machine.mode.checked && lane < kWarp; ++lane)
      own.groups.front().take(threadOf(warp, lane).index, false);
    own.groups.front().clear();
    own.groups.pop_front();
    ++own.done;
  }
}

} // namespace

void resetProducts() {
  for (Products &own : products)
    own.clear();
  products.clear();
}

void exitProducts(const Thread &thread) {
  if (thread.warp < products.size() && (products[thread.warp].some || !products[thread.warp].groups.empty()))
    report("unfinished product", "a warp ends without a wait for its products");
}

const Model *findProduct(llvm::StringRef assembly) {
  static std::map<std::string, Model> known;
  const std::string text = llvm::join(llvm::split(assembly, '\n'), " ");
  const auto found = known.find(text);
  if (found != known.end())
    return &found->second;
  for (unsigned columns = 8; columns <= kMostColumns; columns += 8)
    for (int form = 0; form < 1 << kFormBits; ++form)
      if (!((form & kFragmentA) && (form & kTransposedA)) && text == productText(columns, form))
        return &(known[text] = {"wgmma.mma_async", opProduct, int(columns << kFormBits) | form, kMeets});
  return nullptr;
}

const Model *findHold(unsigned count) {
  static std::map<unsigned, Model> known;
  return &(known[count] = {"hold", opHold, int(count), kPlain});
}

/// "$n, $n+1, .."
static std::string operandsFrom(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = first; i < first + count; ++i)
    text += (i > first ? ", $" : "$") + std::to_string(i);
  return text;
}

std::string productText(unsigned columns, int form) {
  const std::string type = form & kHalf ? "f16" : "bf16";
  const unsigned count = columns / 2, second = count + secondOf(form);
  const std::string first = operandsFrom(count, second - count), orderOfA = form & kTransposedA ? ", 1" : ", 0";
  return "{ .reg .pred p; setp.ne.b32 p, " + std::string(form & kFresh ? "0" : "1") + ", 0; wgmma.mma_async.sync.aligned.m64n" +
         std::to_string(columns) + "k16.f32." + type + "." + type + " {" + operandsFrom(0, count) + "}, " +
         (form & kFragmentA ? "{" + first + "}" : first) + ", " + operandsFrom(second, 1) + ", p, 1, 1" +
         (form & kFragmentA ? "" : orderOfA) + (form & kTransposedB ? ", 1" : ", 0") + "; }";
}

void opProduct(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, multiply); }
void opHold(const Site &site, const uint64_t *arguments, void *result) {
  const Thread &thread = *machine.current;
  const Products &own = ofWarp(thread.warp);
  for (unsigned i = 0; i < unsigned(site.model->parameter); ++i) {
    float number = argument<float>(arguments, i);
    if (const Sums *named = namedBy(own, number)) {
      if (named->group >= own.done)
        report("wrong product", "sums are read before a wait for their product, at " + placeOf(site));
      number = valueIn(*named, number, thread.lane);
    }
    static_cast<float *>(result)[i] = number;
  }
}
void opOpenProducts(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, open); }
void opCommitProducts(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, commit); }
void opWaitProducts(const Site &site, const uint64_t *arguments, void *result) { meet(site, kAll, arguments, result, wait); }

} // namespace tenon::emu
