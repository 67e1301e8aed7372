// Runs generated contractions and compares every bit of the result with one sequential FMA chain per element, or, where tiles are
// multiplied, with their order. Inputs end at an
// inaccessible page, so a read behind a matrix crashes; the result lies between canaries; scratch is NaN before every tile.
#include "DotPairs.h"
#include "GemmHarness.h"
#include "Tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace tenon;
using namespace tenon::test;

namespace {

/// `bytes` readable and writable bytes directly before an inaccessible page.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes) {
    size_t page = sysconf(_SC_PAGESIZE);
    mapped = (bytes + page - 1) / page * page + page;
    start = static_cast<char *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start == MAP_FAILED || mprotect(start + mapped - page, page, PROT_NONE) != 0) {
      std::perror("gemm-check: guarded memory");
      std::abort();
    }
    data = start + mapped - page - bytes;
  }
  GuardedMemory(const GuardedMemory &) = delete;
  ~GuardedMemory() { munmap(start, mapped); }
  template <typename T> T *as() { return reinterpret_cast<T *>(data); }

private:
  char *start, *data;
  size_t mapped;
};

struct Options {
  GemmCase gemm;
  std::string corrupt; ///< "", "bit", "order", "outside", "tiles": faults the checker has to find
  bool sweep = false, quick = false;
};

/// Numbers that S holds.
template <typename S, typename T> void fill(std::vector<T> &values, unsigned seed) {
  std::mt19937 random(seed);
  for (T &value : values)
    value = static_cast<T>(static_cast<S>(static_cast<int32_t>(random()) * 0x1p-31));
}

/// The order in which products are added: steps of K one after the other, or (bf16) of each two the odd one first; `backwards`
/// walks from the end, which gives other bits.
std::vector<int64_t> stepsInOrder(int64_t k, bool oddFirst, bool backwards) {
  std::vector<int64_t> steps;
  for (int64_t step = 0; step < k; ++step)
    steps.push_back(oddFirst && (step ^ 1) < k ? step ^ 1 : step);
  if (backwards)
    std::reverse(steps.begin(), steps.end());
  return steps;
}

/// c[m,n] = a[m,k] * b[k,n], one FMA per step.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] void
referenceSingle(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, const int64_t *steps) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t step = 0; step < k; ++step) {
      int64_t depth = steps[step];
      float left = a[row * k + depth];
      for (int64_t column = 0; column < n; ++column)
        c[row * n + column] = __builtin_fmaf(left, b[depth * n + column], c[row * n + column]);
    }
}
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] void
referenceDouble(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k, const int64_t *steps) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t step = 0; step < k; ++step) {
      int64_t depth = steps[step];
      double left = a[row * k + depth];
      for (int64_t column = 0; column < n; ++column)
        c[row * n + column] = __builtin_fma(left, b[depth * n + column], c[row * n + column]);
    }
}
void reference(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, const int64_t *steps) {
  referenceSingle(a, b, c, m, n, k, steps);
}
void reference(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k, const int64_t *steps) {
  referenceDouble(a, b, c, m, n, k, steps);
}

/// As tiles add: of each 32 steps the even ones and the odd ones are chains from zero; both are added, then that to the sum.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] void
tileSums(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, float *chains) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t first = 0; first < k; first += 32) {
      for (int64_t column = 0; column < 2 * n; ++column)
        chains[column] = 0;
      int64_t end = k < first + 32 ? k : first + 32;
      for (int64_t step = first; step < end; ++step) {
        float left = a[row * k + step], *to = chains + step % 2 * n;
        for (int64_t column = 0; column < n; ++column)
          to[column] = __builtin_fmaf(left, b[step * n + column], to[column]);
      }
      for (int64_t column = 0; column < n; ++column)
        c[row * n + column] += chains[column] + chains[n + column];
    }
}
void referenceTiles(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k) {
  std::vector<float> chains(2 * n);
  tileSums(a, b, c, m, n, k, chains.data());
}
void referenceTiles(const double *, const double *, double *, int64_t, int64_t, int64_t) {}

/// Contractions of fewer rows multiply pairs (kFewestRows of TileKernel.h).
bool addsAsTiles(const GemmCase &gemm) {
  return gemm.tier == cpu::Tier::Amx && gemm.type == runtime::DataType::BF16 && gemm.m >= 8;
}

/// Copies row-major `values` into `layout`; what lies between strided elements and behind padded rows is NaN.
template <typename S, typename T> void place(S *to, const T *values, Layout layout, int64_t rows, int64_t columns) {
  for (int64_t index = 0; index < sizeOf(layout, rows, columns); ++index)
    to[index] = layout == Layout::Strided || layout == Layout::Padded ? static_cast<S>(std::nan("")) : S(0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      to[placeOf(layout, rows, columns, row, column)] = static_cast<S>(values[row * columns + column]);
}

constexpr int64_t kCanaries = 64;

/// Row-major inputs of one shape, of numbers that S holds, and the result they must give.
template <typename S, typename T> struct Problem {
  std::vector<T> a, b, expected;
  Problem(const GemmCase &gemm, bool backwards)
      : a(gemm.batch * gemm.m * gemm.k), b(gemm.batch * gemm.k * gemm.n), expected(gemm.batch * gemm.m * gemm.n, T(0)) {
    fill<S>(a, 1), fill<S>(b, 2);
    std::vector<int64_t> steps = stepsInOrder(gemm.k, gemm.type == runtime::DataType::BF16, backwards);
    for (int64_t entry = 0; entry < gemm.batch; ++entry) {
      const T *left = &a[entry * gemm.m * gemm.k], *right = &b[entry * gemm.k * gemm.n];
      T *result = &expected[entry * gemm.m * gemm.n];
      if (addsAsTiles(gemm) && !backwards)
        referenceTiles(left, right, result, gemm.m, gemm.n, gemm.k);
      else
        reference(left, right, result, gemm.m, gemm.n, gemm.k, steps.data());
    }
  }
};

template <typename S, typename T>
bool runOnce(const CompiledGemm &code, const GemmCase &gemm, const Problem<S, T> &problem, const std::string &corrupt) {
  const auto &[a, b, expected] = problem;
  int64_t m = gemm.m, n = gemm.n, k = gemm.k, batch = gemm.batch;
  int64_t sizeA = sizeOf(gemm.a, m, k), sizeB = sizeOf(gemm.b, k, n);
  GuardedMemory placedA(batch * sizeA * sizeof(S)), placedB(batch * sizeB * sizeof(S));
  GuardedMemory result((kCanaries + batch * m * n) * sizeof(T));
  for (int64_t entry = 0; entry < batch; ++entry) {
    place(placedA.as<S>() + entry * sizeA, &a[entry * m * k], gemm.a, m, k);
    place(placedB.as<S>() + entry * sizeB, &b[entry * k * n], gemm.b, k, n);
  }
  for (int64_t index = 0; index < kCanaries + batch * m * n; ++index)
    result.as<T>()[index] = T(-77);
  T *c = result.as<T>() + kCanaries;

  char *scratch = static_cast<char *>(std::aligned_alloc(64, (code.scratchBytes + 127) / 64 * 64));
  std::memset(scratch, 0xff, code.scratchBytes + 1); // also where there is no tile
  int64_t tiles = code.tileCount(m, n, k, batch);
  bool released = true;
  for (int64_t tile = tiles - 1; tile >= 0; --tile) {
    std::memset(scratch, 0xff, code.scratchBytes + 1);
    code.run(placedA.as<S>(), placedB.as<S>(), c, scratch, m, n, k, batch, tile, tile + 1);
    constexpr uint8_t someShapes[64] = {1};
    if (corrupt == "tiles")
      tilesOfThread().configure(someShapes);
    released = released && tilesOfThread().areReleased();
  }
  // 0xff bytes are NaN as floats, so only the byte behind the scratch tells whether it was overrun.
  bool intact = static_cast<unsigned char>(scratch[code.scratchBytes]) == 0xff;
  std::free(scratch);
  if (corrupt == "bit" && batch * m * n > 0)
    reinterpret_cast<unsigned char *>(c)[(batch * m * n - 1) * sizeof(T)] ^= 1;
  if (corrupt == "outside")
    c[-1] = T(0);

  auto describe = [&] {
    std::printf("%s %s m=%lld n=%lld k=%lld batch=%lld a=%d b=%d %s: ", cpu::tierName(gemm.tier).data(),
                runtime::nameOf(gemm.type).data(), (long long)m, (long long)n, (long long)k, (long long)batch, (int)gemm.a,
                (int)gemm.b, gemm.dynamic ? "dynamic" : "static");
  };
  if (!released)
    return describe(), std::printf("FAIL left tiles configured\n"), false;
  if (!intact)
    return describe(), std::printf("FAIL wrote behind the scratch\n"), false;
  for (int64_t index = -kCanaries; index < 0; ++index)
    if (c[index] != T(-77))
      return describe(), std::printf("FAIL wrote before the result\n"), false;
  for (int64_t index = 0; index < batch * m * n; ++index)
    if (std::memcmp(&c[index], &expected[index], sizeof(T)) != 0)
      return describe(),
             std::printf("FAIL element (%lld, %lld): got %.17g, expected %.17g\n", (long long)(index / n), (long long)(index % n),
                         (double)c[index], (double)expected[index]),
             false;
  return true;
}

struct Shape {
  int64_t m, n, k, batch;
};

/// Triples of sizes around every tile border, and shapes that cross the block limits of M, N and K.
std::vector<Shape> sweepShapes(bool quick, bool ofTiles) {
  std::vector<Shape> shapes = {{5, 40, 1700, 1},  {390, 70, 9, 1},  {800, 33, 33, 1}, {3, 1000, 5, 1},
                               {13, 520, 800, 1}, {7, 9, 0, 1},     {0, 9, 3, 1},     {6, 0, 3, 1},
                               {64, 64, 64, 3},   {5, 300, 17, 11}, {17, 17, 16, 40}, {97, 40, 385, 2}};
  if (ofTiles) // strips of 1 to 32 rows, 32 steps, blocks of 512
    shapes.insert(shapes.end(), {{7, 40, 70, 1},
                                 {8, 33, 32, 1},
                                 {16, 32, 64, 1},
                                 {32, 32, 31, 1},
                                 {33, 65, 33, 2},
                                 {48, 16, 96, 1},
                                 {64, 64, 1030, 1},
                                 {394, 40, 513, 1},
                                 {12, 9, 512, 30}});
  std::vector<int64_t> sizes = quick ? std::vector<int64_t>{1, 17, 67} : std::vector<int64_t>{1, 2, 17, 41, 67, 131, 197, 300};
  for (int64_t m : sizes)
    for (int64_t n : sizes)
      for (int64_t k : sizes)
        shapes.push_back({m, n, k, 1});
  return shapes;
}

/// One case, or all layouts of A and B for every shape of the sweep; prints what differs and the number of contractions.
template <typename S, typename T> int check(const Options &options) {
  std::vector<GemmCase> cases;
  std::vector<Shape> shapes = {{options.gemm.m, options.gemm.n, options.gemm.k, options.gemm.batch}};
  if (options.sweep)
    shapes = sweepShapes(options.quick, options.gemm.tier == cpu::Tier::Amx);
  for (Layout a : {Layout::RowMajor, Layout::Transposed, Layout::Strided, Layout::Padded})
    for (Layout b : {Layout::RowMajor, Layout::Transposed, Layout::Strided}) {
      GemmCase gemm = options.gemm;
      if (options.sweep)
        gemm.a = a, gemm.b = b, gemm.dynamic = true;
      bool known = sizeof(S) <= 2 || gemm.a != Layout::Padded; // only pairs could read behind a row
      if (known && (options.sweep || cases.empty()))
        cases.push_back(gemm);
    }
  std::vector<CompiledGemm> codes;
  for (const GemmCase &gemm : cases)
    codes.push_back(compileGemm(gemm));
  int64_t failures = 0, runs = 0;
  for (const Shape &shape : shapes) {
    for (GemmCase &gemm : cases)
      gemm.m = shape.m, gemm.n = shape.n, gemm.k = shape.k, gemm.batch = shape.batch;
    Problem<S, T> problem(cases.front(), options.corrupt == "order");
    for (size_t index = 0; index < cases.size() && failures < 5; ++index, ++runs)
      failures += runOnce<S, T>(codes[index], cases[index], problem, options.corrupt) ? 0 : 1;
  }
  if (failures == 0)
    std::printf("%s %s: %lld contractions, all bits equal\n", cpu::tierName(options.gemm.tier).data(),
                runtime::nameOf(options.gemm.type).data(), (long long)runs);
  return failures == 0 ? 0 : 1;
}

Layout layoutOf(char letter) {
  if (letter == 'p' || letter == 'c')
    return letter == 'p' ? Layout::Panels : Layout::PanelsAcross;
  return letter == 'r' ? Layout::RowMajor : letter == 't' ? Layout::Transposed : letter == 'g' ? Layout::Padded : Layout::Strided;
}

int usage() {
  std::fprintf(stderr, "usage: tenon-gemm-check --tier=T [--f64 | --bf16 | --f16] (--sweep [--quick] | --shape=M,N,K,BATCH "
                       "[--layouts=rt] [--dynamic])\n"
                       "                        layouts of A and B: r(ow-major), t(ransposed), s(trided), g(aps); of B p(anels), "
                       "c: those of columns\n"
                       "                        [--corrupt=bit|order|outside|tiles] [--cpu=NAME] [--defined]\n"
                       "       tenon-gemm-check --tier=T [--f64] --shape=M,N,K,BATCH --emit=mlir|asm\n"
                       "       tenon-gemm-check --tier=T [--f64] --micro-kernels=ROWS\n"
                       "       tenon-gemm-check --tier=T --can-run\n"
                       "       tenon-gemm-check --instruction [--tier=amx] [--corrupt=order]\n");
  return 2;
}

/// What the command line asks for.
struct Asked {
  Options options;
  std::string emit;
  int64_t microRows = 0;
  bool probe = false, instruction = false;
};

/// Arguments that are one word: whether this is one of them.
bool takeWord(const std::string &argument, Asked &asked) {
  GemmCase &gemm = asked.options.gemm;
  static const std::pair<const char *, cpu::Tier> tiers[] = {{"--tier=portable", cpu::Tier::Portable},
                                                             {"--tier=avx2", cpu::Tier::Avx2},
                                                             {"--tier=avx512", cpu::Tier::Avx512},
                                                             {"--tier=avx512bf16", cpu::Tier::Avx512Bf16},
                                                             {"--tier=amx", cpu::Tier::Amx}};
  static const std::pair<const char *, runtime::DataType> types[] = {
      {"--f64", runtime::DataType::F64}, {"--bf16", runtime::DataType::BF16}, {"--f16", runtime::DataType::F16}};
  const std::pair<const char *, bool &> flags[] = {{"--sweep", asked.options.sweep},     {"--quick", asked.options.quick},
                                                   {"--dynamic", gemm.dynamic},          {"--defined", gemm.defined},
                                                   {"--instruction", asked.instruction}, {"--can-run", asked.probe}};
  for (auto &[word, tier] : tiers)
    if (argument == word)
      return gemm.tier = tier, true;
  for (auto &[word, type] : types)
    if (argument == word)
      return gemm.type = type, true;
  for (auto &[word, flag] : flags)
    if (argument == word)
      return flag = true;
  return false;
}

/// Arguments with a value: whether this is one of them, and its value right.
bool takeValue(const std::string &argument, Asked &asked) {
  GemmCase &gemm = asked.options.gemm;
  if (argument.starts_with("--corrupt="))
    asked.options.corrupt = argument.substr(10);
  else if (argument.starts_with("--cpu="))
    gemm.cpu = argument.substr(6);
  else if (argument.starts_with("--micro-kernels="))
    asked.microRows = std::atoll(argument.c_str() + 16);
  else if (argument.starts_with("--emit="))
    asked.emit = argument.substr(7);
  else if (argument.starts_with("--layouts=") && argument.size() == 12)
    gemm.a = layoutOf(argument[10]), gemm.b = layoutOf(argument[11]);
  else if (argument.starts_with("--shape=")) {
    long long m, n, k, batch;
    if (std::sscanf(argument.c_str() + 8, "%lld,%lld,%lld,%lld", &m, &n, &k, &batch) != 4)
      return false;
    gemm.m = m, gemm.n = n, gemm.k = k, gemm.batch = batch;
  } else
    return false;
  return true;
}

int checkTypes(const Options &options) {
  switch (options.gemm.type) {
  case runtime::DataType::F64:
    return check<double, double>(options);
  case runtime::DataType::BF16:
    return check<Brain, float>(options);
  case runtime::DataType::F16:
    return check<_Float16, float>(options);
  default:
    return check<float, float>(options);
  }
}

} // namespace

int main(int argumentCount, char **arguments) {
  flushDenormals();
  Asked asked;
  for (int index = 1; index < argumentCount; ++index)
    if (!takeWord(arguments[index], asked) && !takeValue(arguments[index], asked))
      return usage();
  Options &options = asked.options;
  if (isInPanels(options.gemm.b) && options.gemm.type == runtime::DataType::BF16)
    options.gemm.b = options.gemm.b == Layout::Panels ? Layout::PairPanels : Layout::PairPanelsAcross;
  if (!asked.emit.empty()) {
    std::string text = asked.emit == "mlir" ? emitMlir(options.gemm) : emitAssembly(options.gemm);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (asked.microRows > 0) {
    std::string text = emitMicroKernels(options.gemm, asked.microRows);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (asked.probe)
    return canRun(options.gemm.tier) ? 0 : 1;
  if (asked.instruction) {
    bool otherOrder = options.corrupt == "order";
    return (options.gemm.tier == cpu::Tier::Amx ? compareTilesWithInstructions(otherOrder) : compareWithInstruction(otherOrder))
               ? 0
               : 1;
  }
  if (options.gemm.cpu.empty() && !canRun(options.gemm.tier)) {
    std::printf("%s: this machine lacks the instructions\n", cpu::tierName(options.gemm.tier).data());
    return 3;
  }
  return checkTypes(options);
}
