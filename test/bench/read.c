/* What one thread reads from memory, GB/s: sums over an array that no cache holds, prefetched by the processor alone.
 * usage: read SECONDS; prints the best of passes over 512 MiB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef long Vector __attribute__((vector_size(64)));
enum { CHAINS = 8 };
static const size_t bytes = (size_t)512 << 20;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char **arguments) {
  double seconds = count > 1 ? atof(arguments[1]) : 1;
  Vector *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return 1;
  madvise(data, bytes, MADV_HUGEPAGE);
  memset(data, 1, bytes);
  Vector sums[CHAINS] = {0};
  double best = 0, end = now() + seconds;
  do {
    double begin = now();
    for (size_t i = 0; i < bytes / sizeof(Vector); i += CHAINS)
      for (size_t c = 0; c < CHAINS; ++c)
        sums[c] += data[i + c];
    double rate = bytes / (now() - begin) * 1e-9;
    best = rate > best ? rate : best;
  } while (now() < end);
  for (size_t c = 1; c < CHAINS; ++c)
    sums[0] += sums[c];
  volatile long sink = sums[0][0];
  (void)sink;
  printf("%.2f\n", best);
  return 0;
}
