#ifndef TENON_TEST_BENCH_GEMM_GEMMHARNESS_H
#define TENON_TEST_BENCH_GEMM_GEMMHARNESS_H

#include "lowering/cpu/Tier.h"

#include <cstdint>
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

/// Builds, compiles and runs single contractions, for the tests and the benchmark.
namespace tenon::test {

/// The last two, for B only, are the panel storage of Gemm.h: of B itself and of its transposed.
enum class Layout { RowMajor, Transposed, Strided, Panels, PanelsTransposed };

struct GemmCase {
  cpu::Tier tier = cpu::Tier::Avx2;
  bool doublePrecision = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  Layout a = Layout::RowMajor, b = Layout::RowMajor;
  bool dynamic = false; ///< sizes are arguments of the generated function instead of constants
  std::string cpu;      ///< compile for this CPU instead of the tier's own, e.g. 16 lanes on a machine that has 8
};

/// Elements that a matrix of `rows` x `columns` takes, and the place of one of them. The strided layout leaves a gap behind every
/// element.
int64_t sizeOf(Layout layout, int64_t rows, int64_t columns, bool doublePrecision);
int64_t placeOf(Layout layout, int64_t rows, int64_t columns, bool doublePrecision, int64_t row, int64_t column);

/// What the generated module exports. C is row-major; batch entries follow each other.
using GemmFunction = void (*)(const void *a, const void *b, void *c, void *scratch, int64_t m, int64_t n, int64_t k,
                              int64_t batch, int64_t firstTile, int64_t lastTile);
using TileCountFunction = int64_t (*)(int64_t m, int64_t n, int64_t k, int64_t batch);

struct CompiledGemm {
  CompiledGemm();
  CompiledGemm(CompiledGemm &&);
  ~CompiledGemm();
  std::unique_ptr<llvm::orc::LLJIT> engine; ///< owns the code
  GemmFunction run = nullptr;
  TileCountFunction tileCount = nullptr;
  int64_t scratchBytes = 0;
};

/// Compiles for the tier's own CPU; a failure is a bug: it prints the reason and aborts.
CompiledGemm compileGemm(const GemmCase &gemm);

/// The generated MLIR, or the assembly of its tier.
std::string emitMlir(const GemmCase &gemm);
std::string emitAssembly(const GemmCase &gemm);

/// Assembly of every micro-kernel of the tier with up to `rows` rows, in all forms.
std::string emitMicroKernels(const GemmCase &gemm, int64_t rows);

/// Whether this machine executes the instructions of `tier`.
bool canRun(cpu::Tier tier);

} // namespace tenon::test

#endif // TENON_TEST_BENCH_GEMM_GEMMHARNESS_H
