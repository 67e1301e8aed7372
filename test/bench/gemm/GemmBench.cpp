// Speed of the generated contractions, one thread, as a share of an FMA peak probe taken right before and after each sample.
// Prints one JSON line per case; compare-gemm.py puts PyTorch beside it.
#include "GemmHarness.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace tenon;
using namespace tenon::test;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Best GFLOP/s of 12 independent chains of `instruction` over a few 1 ms samples; written in assembly, so that no compiler can
/// change what is measured.
#define TENON_FMA_PROBE(name, instruction, register, lanes)                                                                      \
  double name() {                                                                                                                \
    double best = 0;                                                                                                             \
    for (int sample = 0; sample < 3; ++sample) {                                                                                 \
      constexpr int64_t kSteps = 100000;                                                                                         \
      int64_t count = kSteps;                                                                                                    \
      double start = now();                                                                                                      \
      asm volatile(                                                                                                              \
          "vxorps %%xmm0, %%xmm0, %%xmm0\n1:\n"                                                                                  \
          ".irp n,1,2,3,4,5,6,7,8,9,10,11,12\n " instruction " %%" register "0, %%" register "0, %%" register "\\n\n.endr\n"     \
                                                                                                              "dec %0\njnz "     \
                                                                                                              "1b\nvzeroupper"   \
          : "+r"(count)                                                                                                          \
          :                                                                                                                      \
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "cc");    \
      best = std::max(best, 2.0 * 12 * lanes * kSteps / (now() - start) * 1e-9);                                                 \
    }                                                                                                                            \
    return best;                                                                                                                 \
  }
TENON_FMA_PROBE(probeAvx2, "vfmadd231ps", "ymm", 8)
TENON_FMA_PROBE(probeAvx512, "vfmadd231ps", "zmm", 16)
TENON_FMA_PROBE(probePairs, "vdpbf16ps", "zmm", 32)
#undef TENON_FMA_PROBE

/// The same of four tiles of sums.
[[gnu::target("amx-tile,amx-bf16")]] double probeTiles() {
  alignas(64) uint8_t shapes[64] = {1};
  for (int tile = 0; tile < 8; ++tile)
    shapes[16 + 2 * tile] = 64, shapes[48 + tile] = 16;
  _tile_loadconfig(shapes);
  double best = 0;
  for (int sample = 0; sample < 3; ++sample) {
    constexpr int64_t kSteps = 10000;
    double start = now();
    for (int64_t step = 0; step < kSteps; ++step) {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    best = std::max(best, 2.0 * 4 * 16 * 16 * 32 * kSteps / (now() - start) * 1e-9);
  }
  _tile_release();
  return best;
}

double peak(const GemmCase &gemm) {
  if (gemm.tier == cpu::Tier::Amx && gemm.type == runtime::DataType::BF16)
    return probeTiles();
  if (gemm.tier == cpu::Tier::Avx512Bf16 && gemm.type == runtime::DataType::BF16)
    return probePairs();
  double single = gemm.tier >= cpu::Tier::Avx512 ? probeAvx512() : probeAvx2();
  return gemm.type == runtime::DataType::F64 ? single / 2 : single;
}

/// Zero-filled memory on huge pages, never freed before the process ends.
void *allocate(size_t bytes) {
  size_t rounded = (bytes + (2 << 20) - 1) / (2 << 20) * (2 << 20);
  void *memory = std::aligned_alloc(2 << 20, rounded);
  madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  return memory;
}

template <typename T> void fill(T *data, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  for (int64_t index = 0; index < count; ++index)
    data[index] = static_cast<T>(static_cast<int32_t>(random()) * 0x1p-31);
}

/// Largest |C - reference| / sum |a b| over sampled elements, reference in f64.
template <typename S, typename T> double largestError(const GemmCase &gemm, const S *a, const S *b, const T *c) {
  double largest = 0;
  std::mt19937 random(7);
  for (int sample = 0; sample < 2000; ++sample) {
    int64_t row = sample < 4 ? (sample & 1 ? gemm.m - 1 : 0) : random() % gemm.m;
    int64_t column = sample < 4 ? (sample & 2 ? gemm.n - 1 : 0) : random() % gemm.n;
    double sum = 0, magnitude = 0;
    for (int64_t depth = 0; depth < gemm.k; ++depth) {
      double product =
          double(a[placeOf(gemm.a, gemm.m, gemm.k, row, depth)]) * double(b[placeOf(gemm.b, gemm.k, gemm.n, depth, column)]);
      sum += product, magnitude += std::abs(product);
    }
    double error = std::abs(double(c[row * gemm.n + column]) - sum) / magnitude;
    if (!(error <= largest))
      largest = error;
  }
  return largest;
}

/// S: of a and b in memory, T: of c.
template <typename S, typename T> int measure(const GemmCase &gemm, const std::string &name, double seconds) {
  CompiledGemm code = compileGemm(gemm);
  int64_t sizeA = sizeOf(gemm.a, gemm.m, gemm.k);
  int64_t sizeB = sizeOf(gemm.b, gemm.k, gemm.n);
  S *a = static_cast<S *>(allocate(gemm.batch * sizeA * sizeof(S)));
  S *b = static_cast<S *>(allocate(gemm.batch * sizeB * sizeof(S)));
  T *c = static_cast<T *>(allocate(gemm.batch * gemm.m * gemm.n * sizeof(T)));
  void *scratch = allocate(code.scratchBytes);
  fill(a, gemm.batch * sizeA, 1);
  fill(b, gemm.batch * sizeB, 2);
  int64_t tiles = code.tileCount(gemm.m, gemm.n, gemm.k, gemm.batch);
  auto run = [&] { code.run(a, b, c, scratch, gemm.m, gemm.n, gemm.k, gemm.batch, 0, tiles); };
  run();
  int64_t last = gemm.batch - 1;
  double error = largestError(gemm, a + last * sizeA, b + last * sizeB, c + last * gemm.m * gemm.n);
  double limit = gemm.k * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
  double flops = 2.0 * gemm.batch * gemm.m * gemm.n * gemm.k;
  int64_t repetitions = std::max<int64_t>(1, static_cast<int64_t>(2e-3 * 100e9 / flops));
  std::vector<double> shares, speeds, peaks;
  double end = now() + seconds;
  do {
    double before = peak(gemm);
    double start = now();
    for (int64_t repetition = 0; repetition < repetitions; ++repetition)
      run();
    double speed = flops * repetitions / (now() - start) * 1e-9;
    double reference = std::max(before, peak(gemm));
    speeds.push_back(speed), peaks.push_back(reference), shares.push_back(speed / reference);
  } while (now() < end || shares.size() < 5);
  auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  };
  double bestSpeed = *std::max_element(speeds.begin(), speeds.end());
  double bestPeak = *std::max_element(peaks.begin(), peaks.end());
  std::printf("{\"case\": \"%s\", \"tier\": \"%s\", \"type\": \"%s\", \"tiles\": %lld, \"gflops\": %.1f, \"gflops_best\": %.1f, "
              "\"peak\": %.1f, "
              "\"share\": %.3f, \"share_best\": %.3f, \"tile_us\": %.1f, \"error\": %.2g, \"ok\": %s}\n",
              name.c_str(), cpu::tierName(gemm.tier).data(), runtime::nameOf(gemm.type).data(), static_cast<long long>(tiles),
              median(speeds), bestSpeed, median(peaks), median(shares), bestSpeed / bestPeak,
              flops / median(speeds) * 1e-3 / tiles, error, error <= limit ? "true" : "false");
  std::fflush(stdout);
  return error <= limit ? 0 : 1;
}

int measure(const GemmCase &gemm, const std::string &name, double seconds) {
  switch (gemm.type) {
  case runtime::DataType::F64:
    return measure<double, double>(gemm, name, seconds);
  case runtime::DataType::BF16:
    return measure<Brain, float>(gemm, name, seconds);
  case runtime::DataType::F16:
    return measure<_Float16, float>(gemm, name, seconds);
  default:
    return measure<float, float>(gemm, name, seconds);
  }
}

struct NamedCase {
  const char *name;
  int64_t m, n, k;
  Layout a, b;
  int64_t batch = 1;
};

constexpr NamedCase kCases[] = {
    {"256x768x768", 256, 768, 768, Layout::RowMajor, Layout::Transposed},
    {"256x3072x768", 256, 3072, 768, Layout::RowMajor, Layout::Transposed},
    {"256x768x3072", 256, 768, 3072, Layout::RowMajor, Layout::Transposed},
    {"256x768x768-dx", 256, 768, 768, Layout::RowMajor, Layout::RowMajor},
    {"256x768x3072-dx", 256, 768, 3072, Layout::RowMajor, Layout::RowMajor},
    {"256x3072x768-dx", 256, 3072, 768, Layout::RowMajor, Layout::RowMajor},
    {"lm-head", 252, 50257, 768, Layout::RowMajor, Layout::Transposed},
    {"lm-head-dx", 252, 768, 50257, Layout::RowMajor, Layout::RowMajor},
    {"768x3072x256-dw", 768, 3072, 256, Layout::Transposed, Layout::RowMajor},
    {"768x768x256-dw", 768, 768, 256, Layout::Transposed, Layout::RowMajor},
    {"3072x768x256-dw", 3072, 768, 256, Layout::Transposed, Layout::RowMajor},
    {"1024x1024x256-dw", 1024, 1024, 256, Layout::Transposed, Layout::RowMajor},
    {"1024x768x768", 1024, 768, 768, Layout::RowMajor, Layout::Transposed},
    {"1024x3072x768", 1024, 3072, 768, Layout::RowMajor, Layout::Transposed},
    {"1024x768x3072", 1024, 768, 3072, Layout::RowMajor, Layout::Transposed},
    {"1024x768x768-dx", 1024, 768, 768, Layout::RowMajor, Layout::RowMajor},
    {"1024x768x3072-dx", 1024, 768, 3072, Layout::RowMajor, Layout::RowMajor},
    {"1024x3072x768-dx", 1024, 3072, 768, Layout::RowMajor, Layout::RowMajor},
    {"768x3072x1024-dw", 768, 3072, 1024, Layout::Transposed, Layout::RowMajor},
    {"3072x768x1024-dw", 3072, 768, 1024, Layout::Transposed, Layout::RowMajor},
    {"768x768x1024-dw", 768, 768, 1024, Layout::Transposed, Layout::RowMajor},
    {"600x410x410", 600, 410, 410, Layout::RowMajor, Layout::Transposed},
    {"600x2100x410", 600, 2100, 410, Layout::RowMajor, Layout::Transposed},
    {"600x410x2100", 600, 410, 2100, Layout::RowMajor, Layout::Transposed},
    {"410x2100x600-dw", 410, 2100, 600, Layout::Transposed, Layout::RowMajor},
    {"scores-256", 256, 256, 64, Layout::RowMajor, Layout::Transposed, 48},
    {"values-256", 256, 64, 256, Layout::RowMajor, Layout::RowMajor, 48},
    {"scores-64", 64, 64, 64, Layout::RowMajor, Layout::Transposed, 48},
    {"64x64x64", 64, 64, 64, Layout::RowMajor, Layout::RowMajor},
    {"64x64x64-t", 64, 64, 64, Layout::RowMajor, Layout::Transposed},
    {"128x41x128", 128, 41, 128, Layout::RowMajor, Layout::RowMajor},
    {"8x768x768", 8, 768, 768, Layout::RowMajor, Layout::Transposed},
    {"32x768x768", 32, 768, 768, Layout::RowMajor, Layout::Transposed},
    {"1x768x768", 1, 768, 768, Layout::RowMajor, Layout::Transposed},
};

} // namespace

int main(int argumentCount, char **arguments) {
  std::string tiers = "avx2,avx512", filter, exact;
  double seconds = 0.5;
  GemmCase gemm;
  for (int index = 1; index < argumentCount; ++index) {
    std::string argument = arguments[index];
    if (argument.starts_with("--tier="))
      tiers = argument.substr(7);
    else if (argument.starts_with("--case="))
      filter = argument.substr(7);
    else if (argument.starts_with("--exact="))
      exact = argument.substr(8);
    else if (argument.starts_with("--seconds="))
      seconds = std::atof(argument.c_str() + 10);
    else if (argument == "--f64")
      gemm.type = runtime::DataType::F64;
    else if (argument == "--bf16")
      gemm.type = runtime::DataType::BF16;
    else if (argument == "--f16")
      gemm.type = runtime::DataType::F16;
    else if (argument == "--dynamic")
      gemm.dynamic = true;
    else {
      std::fprintf(stderr, "usage: tenon-gemm-bench [--tier=avx2,avx512] [--case=SUBSTRING | --exact=NAME] [--seconds=S] [--f64 "
                           "| --bf16 | --f16] [--dynamic]\n");
      return 2;
    }
  }
  int failures = 0;
  for (cpu::Tier tier : cpu::kTiers) {
    if (!llvm::is_contained(llvm::split(tiers, ','), cpu::tierName(tier)) || !canRun(tier))
      continue;
    gemm.tier = tier;
    for (const NamedCase &entry : kCases) {
      if (std::string(entry.name).find(filter) == std::string::npos || (!exact.empty() && exact != entry.name))
        continue;
      gemm.m = entry.m, gemm.n = entry.n, gemm.k = entry.k, gemm.a = entry.a, gemm.b = entry.b, gemm.batch = entry.batch;
      failures += measure(gemm, entry.name, seconds);
    }
  }
  return failures == 0 ? 0 : 1;
}
