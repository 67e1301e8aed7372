#include "lowering/cpu/LibraryKernels.h"
#include "lowering/cpu/CopyRows.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/PackPanels.h"
#include "lowering/cpu/StreamColumns.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

class TierKernels {
public:
  TierKernels(ModuleOp module, Tier tier)
      : tier(tier), builder(module.getBodyRegion()), location(module.getLoc()), f32(builder.getF32Type()),
        f64(builder.getF64Type()), bf16(builder.getBF16Type()), f16(builder.getF16Type()) {}

  void addReals() {
    for (Type element : {f32, f64}) {
      micro(element, {WalkOfA::RowMajor, WalkOfA::Transposed, WalkOfA::Strided});
      for (LayoutOfB layout : kLayouts)
        getPackPanel(builder, location, tier, element, panelWidth(tier, element), layout);
      for (FormOfA form : kForms)
        getWidenRows(builder, location, tier, element, form, DepthOrder::Ascending);
      stream({element});
      copyRows(element);
    }
    copyRows(bf16);
    for (Type storage : {bf16, f16})
      addWidened(storage);
    getWidenPanel(builder, location, tier, panelWidth(tier, bf16));
    turn();
  }

  void addPairs() {
    micro(bf16, {WalkOfA::RowMajor, WalkOfA::Transposed});
    for (LayoutOfB layout : kLayouts)
      getPackPairs(builder, location, tier, panelWidth(tier, bf16), layout);
    for (bool neighbours : {false, true})
      getPairRows(builder, location, tier, neighbours);
    stream({bf16});
    turn();
  }

  void addTiles() {
    getTileConfiguration(builder, location, tier);
    for (int64_t rowTiles : {1, 2})
      for (int64_t vectors = 1; vectors <= microTile(tier).vectors; ++vectors)
        getTileKernel(builder, location, {tier, rowTiles, vectors, panelWidth(tier, bf16)});
    for (FormOfRows form : {FormOfRows::AlongDepth, FormOfRows::AlongRows, FormOfRows::Strided})
      getTileRows(builder, location, tier, form);
  }

private:
  static constexpr LayoutOfB kLayouts[] = {LayoutOfB::RowMajor, LayoutOfB::Transposed, LayoutOfB::Strided};
  static constexpr FormOfA kForms[] = {FormOfA::AlongDepth, FormOfA::AlongRows, FormOfA::Strided};

  void micro(Type element, llvm::ArrayRef<WalkOfA> walks) {
    for (WalkOfA walk : walks)
      for (int64_t rows = 1; rows <= microTile(tier).rows; ++rows)
        for (int64_t vectors = 1; vectors <= microTile(tier).vectors; ++vectors) {
          getMicroKernel(builder, location, {tier, element, rows, vectors, walk, panelWidth(tier, element)});
          // Panels of memory, as wide in every tier.
          getMicroKernel(builder, location, {tier, element, rows, vectors, walk, kPanelWidth, rows <= kFewRows});
        }
  }

  void addWidened(Type storage) {
    const int64_t width = panelWidth(tier, storage);
    for (DepthOrder order : {DepthOrder::Ascending, DepthOrder::OddFirst}) {
      for (LayoutOfB layout : kLayouts)
        getPackPanel(builder, location, tier, storage, width, layout, order);
      for (FormOfA form : kForms)
        getWidenRows(builder, location, tier, storage, form, order);
    }
    for (LayoutOfB layout : {LayoutOfB::RowMajor, LayoutOfB::Transposed}) // keys and values of attention
      getPackPanel(builder, location, tier, f32, width, layout, DepthOrder::Ascending, storage);
    stream({storage, {}, /*isWidened=*/true});
    stream({f32, storage, /*isWidened=*/true});
  }

  void stream(const StreamedMatrix &matrix) {
    for (bool adds : {false, true})
      getStreamRows(builder, location, tier, matrix, adds);
    getStreamColumns(builder, location, tier, matrix);
  }

  void copyRows(Type storage) {
    for (int64_t step = 1; step <= CopyRows::kMostStep; ++step)
      for (bool overruns : {false, true})
        getCopyRows(builder, location, {tier, storage, step, overruns});
  }

  void turn() {
    const int64_t width = panelWidth(tier, bf16);
    if (width == 2 * tierLanes(tier, f32))
      getTurnPanel(builder, location, tier, width);
  }

  Tier tier;
  OpBuilder builder;
  Location location;
  Type f32, f64, bf16, f16;
};

} // namespace

void addLibraryKernels(ModuleOp module, Tier tier) {
  TierKernels kernels(module, tier);
  if (!isOnlyForBf16(tier))
    return kernels.addReals();
  kernels.addPairs();
  if (multipliesTiles(tier, Builder(module.getContext()).getBF16Type()))
    kernels.addTiles();
}

} // namespace tenon::cpu
