/* The peak of this machine's multiply-adds: independent chains in registers, nothing in memory.
 * usage: peak THREADS SECONDS [bf16]; prints GFLOP/s of all threads together, and of which instruction: of f32 fused
 * multiply-adds, with bf16 of what the code is compiled for: products of tiles (AMX), of pairs, or f32 again. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__AMX_BF16__) || defined(__AVX512BF16__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
typedef float Vector __attribute__((vector_size(4 * WIDTH)));
enum { CHAINS = 12, ROUNDS = 1 << 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct Job {
  double seconds, rate;
  float sink;
  double (*burst)(float *sink); /* useful operations of one short burst */
};

static double multiply(float *sink) {
  Vector x[CHAINS], a, b;
  for (int i = 0; i < WIDTH; ++i) {
    a[i] = 0.999f;
    b[i] = 0.001f;
  }
  for (int c = 0; c < CHAINS; ++c)
    x[c] = a * (float)c;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; ++c)
      x[c] = x[c] * a + b;
    __asm__ volatile("" : "+v"(a), "+v"(b)); /* one round cannot be folded into the next */
  }
  for (int c = 0; c < CHAINS; ++c)
    *sink += x[c][0];
  return 2.0 * WIDTH * CHAINS * ROUNDS;
}

#if defined(__AMX_BF16__)
static const char *const shortName = "tdpbf16ps";
static double multiplyShort(float *sink) {
  static const unsigned char zeros[1024];
  unsigned char shape[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    shape[16 + 2 * tile] = 64;
    shape[48 + tile] = 16;
  }
  _tile_loadconfig(shape);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
  _tile_loadd(4, zeros, 64), _tile_loadd(5, zeros, 64), _tile_loadd(6, zeros, 64), _tile_loadd(7, zeros, 64);
  for (int round = 0; round < ROUNDS / 16; ++round) {
    _tile_dpbf16ps(0, 4, 6), _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6), _tile_dpbf16ps(3, 5, 7);
  }
  float sums[256];
  _tile_stored(0, sums, 64);
  _tile_release();
  *sink += sums[0];
  return 4.0 * 2 * 16 * 16 * 32 * (ROUNDS / 16);
}
/* Linux gives tiles to processes that ask for them (ARCH_REQ_XCOMP_PERM, XTILEDATA). */
static int mayMultiplyShort(void) { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }
#elif defined(__AVX512BF16__)
static const char *const shortName = "vdpbf16ps";
static double multiplyShort(float *sink) {
  __m512 x[CHAINS];
  __m512bh a = (__m512bh)_mm512_set1_epi16(0x3f80), b = a;
  for (int c = 0; c < CHAINS; ++c)
    x[c] = _mm512_set1_ps((float)c);
  for (int round = 0; round < ROUNDS; ++round) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; ++c)
      x[c] = _mm512_dpbf16_ps(x[c], a, b);
    __asm__ volatile("" : "+v"(a), "+v"(b));
  }
  for (int c = 0; c < CHAINS; ++c)
    *sink += _mm512_reduce_add_ps(x[c]);
  return 2.0 * 32 * CHAINS * ROUNDS;
}
static int mayMultiplyShort(void) { return 1; }
#else
static const char *const shortName = "fma";
static double multiplyShort(float *sink) { return multiply(sink); }
static int mayMultiplyShort(void) { return 1; }
#endif

/* The best of many short bursts: a neighbour on the core must not lower the peak. */
static void *probe(void *argument) {
  struct Job *job = argument;
  double begin = now();
  while (now() - begin < job->seconds) {
    double start = now(), operations = job->burst(&job->sink), rate = operations / (now() - start) * 1e-9;
    if (rate > job->rate)
      job->rate = rate;
  }
  return NULL;
}

int main(int count, char **values) {
  int threads = count > 1 ? atoi(values[1]) : 1;
  double seconds = count > 2 ? atof(values[2]) : 1;
  const int isShort = count > 3 && strcmp(values[3], "bf16") == 0;
  if (threads < 1 || threads > 1024 || (isShort && !mayMultiplyShort()))
    return 2;
  pthread_t handles[threads];
  struct Job jobs[threads];
  double rate = 0, sink = 0;
  for (int i = 0; i < threads; ++i) {
    jobs[i] = (struct Job){seconds, 0, 0, isShort ? multiplyShort : multiply};
    if (pthread_create(&handles[i], NULL, probe, &jobs[i]) != 0)
      return 1;
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    rate += jobs[i].rate;
    sink += jobs[i].sink;
  }
  printf("%.1f %s\n", rate, isShort ? shortName : "fma");
  return sink == 12345.0;
}
