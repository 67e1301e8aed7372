/* The peak of this machine's fused multiply-adds: independent chains in registers, nothing in memory.
 * usage: peak THREADS SECONDS; prints GFLOP/s of all threads together. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
};

/* The best of many short bursts: a neighbour on the core must not lower the peak. */
static void *probe(void *argument) {
  struct Job *job = argument;
  Vector x[CHAINS], a, b;
  for (int i = 0; i < WIDTH; ++i) {
    a[i] = 0.999f;
    b[i] = 0.001f;
  }
  for (int c = 0; c < CHAINS; ++c)
    x[c] = a * (float)c;
  double begin = now();
  while (now() - begin < job->seconds) {
    double start = now();
    for (int round = 0; round < ROUNDS; ++round) {
#pragma GCC unroll 12
      for (int c = 0; c < CHAINS; ++c)
        x[c] = x[c] * a + b;
      __asm__ volatile("" : "+v"(a), "+v"(b)); /* one round cannot be folded into the next */
    }
    double rate = 2.0 * WIDTH * CHAINS * ROUNDS / (now() - start) * 1e-9;
    if (rate > job->rate)
      job->rate = rate;
  }
  for (int c = 0; c < CHAINS; ++c)
    job->sink += x[c][0];
  return NULL;
}

int main(int count, char **values) {
  int threads = count > 1 ? atoi(values[1]) : 1;
  double seconds = count > 2 ? atof(values[2]) : 1;
  if (threads < 1 || threads > 1024)
    return 2;
  pthread_t handles[threads];
  struct Job jobs[threads];
  double rate = 0, sink = 0;
  for (int i = 0; i < threads; ++i) {
    jobs[i] = (struct Job){seconds, 0, 0};
    if (pthread_create(&handles[i], NULL, probe, &jobs[i]) != 0)
      return 1;
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    rate += jobs[i].rate;
    sink += jobs[i].sink;
  }
  printf("%.1f\n", rate);
  return sink == 12345.0;
}
