#ifndef TENON_TEST_BENCH_GEMM_GEMMHARNESS_H
#define TENON_TEST_BENCH_GEMM_GEMMHARNESS_H

#include "lowering/cpu/Tier.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

/// Builds, compiles and runs single contractions, for the tests and the benchmark.
namespace tenon::test {

/// A bf16 whose conversions need no library. It rounds to nearest even, by way of f32.
class Brain {
public:
  Brain() = default;
  explicit Brain(double number) {
    uint32_t wide = std::bit_cast<uint32_t>(static_cast<float>(number));
    bits = number != number ? 0x7fc0 : static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  explicit operator double() const { return static_cast<float>(*this); }

private:
  uint16_t bits = 0;
};

/// Padded: row-major with a gap behind every row. Of B alone, panels (cpu::GemmPanels): lines are rows, or columns (`Across`);
/// with pairs of lines side by side where it is of bf16.
enum class Layout { RowMajor, Transposed, Strided, Padded, Panels, PanelsAcross, PairPanels, PairPanelsAcross };
inline bool isInPanels(Layout layout) { return layout >= Layout::Panels; }

struct GemmCase {
  cpu::Tier tier = cpu::Tier::Avx2;
  runtime::DataType type = runtime::DataType::F32; ///< of A and B in memory: f32, f64, bf16, f16; C is f32, or f64 with them
  int64_t m = 1, n = 1, k = 1, batch = 1;
  Layout a = Layout::RowMajor, b = Layout::RowMajor;
  bool dynamic = false; ///< sizes are arguments of the generated function instead of constants
  bool defined = false; ///< instructions for bf16 are replaced by their definition in C (ReplaceInstructions.h), so that their
                        ///< kernels run on any machine
  std::string cpu;      ///< compile for this CPU instead of the tier's own, e.g. 16 lanes on a machine that has 8
};

/// Elements that a matrix of `rows` x `columns` takes, and the place of one of them. The strided layout leaves a gap behind every
/// element.
int64_t sizeOf(Layout layout, int64_t rows, int64_t columns);
int64_t placeOf(Layout layout, int64_t rows, int64_t columns, int64_t row, int64_t column);

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
