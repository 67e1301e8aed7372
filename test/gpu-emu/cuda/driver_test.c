// The life of a program on the driver interface: device, context, stream, memory, module, launches, a graph, errors. Usage:
// driver_test PTX [fault|touch|refused]. A check that fails is printed; exit 1 then.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
static void *library;
static int failures = 0;

static void *symbol(const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    printf("FAILED: libcuda.so.1 has no %s\n", name);
    exit(1);
  }
  return found;
}

static void expect(int line, Result got, Result wanted) {
  if (got != wanted) {
    printf("FAILED: line %d: result %d, not %d\n", line, got, wanted);
    exit(1);
  }
}
#define CHECK(condition) expect(__LINE__, (condition) ? 0 : -1, 0)
#define CALL(wanted, name, types, ...) expect(__LINE__, ((Result(*) types)symbol(#name))(__VA_ARGS__), wanted)
#define OK(name, types, ...) CALL(0, name, types, __VA_ARGS__)

enum { COUNT = 2500, BLOCKS = 3 };

static char *readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (!file || fread(text, 1, (1 << 20) - 1, file) == 0)
    exit(2);
  fclose(file);
  return text;
}

static void checkDevice(void) {
  int count = 0, value = 0;
  void *context = NULL;
  char name[64];
  CALL(3, cuDeviceGetCount, (int *), &count); // before cuInit
  OK(cuInit, (unsigned), 0);
  OK(cuDeviceGetCount, (int *), &count);
  CHECK(count == 1);
  OK(cuDeviceGet, (int *, int), &value, 0);
  OK(cuDeviceGetName, (char *, int, int), name, sizeof name, 0);
  OK(cuDeviceGetAttribute, (int *, int, int), &value, 75, 0);
  CHECK(value == 8);
  OK(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
  CALL(201, cuMemAlloc_v2, (uint64_t *, size_t), (uint64_t[1]){0}, 4); // no current context
  OK(cuCtxSetCurrent, (void *), context);
}

static void *function;
static void *stream;
static uint64_t x, sums;

static Result sum(void *where, int count) {
  void *parameters[] = {&x, &sums, &count};
  return ((Result (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                      void **))symbol("cuLaunchKernel"))(function, BLOCKS, 1, 1, 256, 1, 1, 0, where, parameters, NULL);
}

/// Whole numbers, so that sums are exact in any order.
static float element(int i, int scale) { return (float)(i * i % 17 * scale); }

static void checkSums(const float *got, int scale) {
  for (int block = 0; block < BLOCKS; ++block) {
    float wanted = 0;
    for (int i = 1024 * block; i < 1024 * (block + 1) && i < COUNT; ++i)
      wanted += element(i, scale);
    if (got[block] != wanted) {
      printf("FAILED: sum %d is %g, not %g\n", block, got[block], wanted);
      ++failures;
    }
  }
}

static void checkWork(void) {
  float *pinned = NULL, pageable[COUNT];
  OK(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&pinned, COUNT * 4, 0);
  for (int i = 0; i < COUNT; ++i)
    pageable[i] = pinned[i] = element(i, 1);
  OK(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), x, pageable, sizeof pageable, stream);
  for (int i = 0; i < COUNT; ++i)
    pageable[i] = 7; // the copy has been taken
  expect(__LINE__, sum(stream, COUNT), 0);
  OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), pageable, sums, BLOCKS * 4, stream);
  checkSums(pageable, 1);
  // Into pinned memory the copy is done when somebody waits.
  OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), pinned, sums, BLOCKS * 4, stream);
  const char *mode = getenv("TENON_GPU_EMU");
  CHECK((pinned[0] == element(0, 1)) == !(mode && strstr(mode, "early")));
  OK(cuStreamSynchronize, (void *), stream);
  checkSums(pinned, 1);
  OK(cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *), x, 0, COUNT * 4, stream);
  expect(__LINE__, sum(stream, COUNT), 0);
  OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), pageable, sums, BLOCKS * 4, stream);
  checkSums(pageable, 0);
  OK(cuMemFreeHost, (void *), pinned);
}

static void checkGraph(void) {
  float *in = NULL, *out = NULL;
  void *graph = NULL, *executable = NULL;
  OK(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&in, COUNT * 4, 0);
  OK(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&out, BLOCKS * 4, 0);
  OK(cuStreamBeginCapture_v2, (void *, int), stream, 0);
  OK(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), x, in, COUNT * 4, stream);
  expect(__LINE__, sum(stream, COUNT), 0);
  OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), out, sums, BLOCKS * 4, stream);
  OK(cuStreamEndCapture, (void *, void **), stream, &graph);
  OK(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long), &executable, graph, 0);
  OK(cuGraphDestroy, (void *), graph);
  for (int step = 2; step < 4; ++step) {
    for (int i = 0; i < COUNT; ++i)
      in[i] = element(i, step);
    OK(cuGraphLaunch, (void *, void *), executable, stream);
    OK(cuStreamSynchronize, (void *), stream);
    checkSums(out, step);
  }
  OK(cuGraphExecDestroy, (void *), executable);
  // Waiting spoils a capture.
  OK(cuStreamBeginCapture_v2, (void *, int), stream, 0);
  CALL(900, cuStreamSynchronize, (void *), stream);
  CALL(901, cuStreamEndCapture, (void *, void **), stream, &graph);
  OK(cuMemFreeHost, (void *), in);
  OK(cuMemFreeHost, (void *), out);
}

struct KernelNode {
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
};

/// The sum of the sums waits for these, in a graph of kernels; then both sum less.
static void checkKernels(void) {
  void *graph = NULL, *executable = NULL, *nodes[2];
  uint64_t total = 0;
  float got = 0, wanted = 0;
  int count = COUNT, blocks = BLOCKS;
  OK(cuMemAlloc_v2, (uint64_t *, size_t), &total, 4);
  struct KernelNode kernels[2] = {{function, {BLOCKS, 1, 1}, {256, 1, 1}, 0, (void *[]){&x, &sums, &count}, NULL},
                                  {function, {1, 1, 1}, {256, 1, 1}, 0, (void *[]){&sums, &total, &blocks}, NULL}};
  OK(cuGraphCreate, (void **, unsigned), &graph, 0);
  CALL(1, cuGraphAddKernelNode, (void **, void *, void **, size_t, const struct KernelNode *), &nodes[1], graph, &stream, 1,
       &kernels[1]);
  for (int i = 0; i < 2; ++i)
    OK(cuGraphAddKernelNode, (void **, void *, void **, size_t, const struct KernelNode *), &nodes[i], graph, &nodes[0], i,
       &kernels[i]);
  OK(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long), &executable, graph, 0);
  for (int part = 0; part < 2; ++part) {
    wanted = 0;
    for (int i = 0; i < count && i < 1024 * blocks; ++i)
      wanted += element(i, 3); // what the graph before left
    OK(cuGraphLaunch, (void *, void *), executable, stream);
    OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), &got, total, 4, stream);
    CHECK(got == wanted);
    count = 2000, blocks = 1;
    for (int i = 0; i < 2; ++i)
      OK(cuGraphExecKernelNodeSetParams, (void *, void *, const struct KernelNode *), executable, nodes[i], &kernels[i]);
  }
  kernels[0].block[0] = 2048;
  CALL(1, cuGraphExecKernelNodeSetParams, (void *, void *, const struct KernelNode *), executable, nodes[0], &kernels[0]);
  OK(cuGraphDestroy, (void *), graph);
  OK(cuGraphExecDestroy, (void *), executable);
  OK(cuMemFree_v2, (uint64_t), total);
}

/// Pinned memory may change when the event behind a copy out of it has come.
static void checkEvents(void) {
  float *pinned = NULL, got = 0;
  void *event = NULL;
  OK(cuEventCreate, (void **, unsigned), &event, 2);
  OK(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&pinned, 4, 0);
  *pinned = 1;
  OK(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), sums, pinned, 4, stream);
  OK(cuEventRecord, (void *, void *), event, stream);
  OK(cuEventSynchronize, (void *), event);
  *pinned = 2;
  OK(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *), &got, sums, 4, stream);
  CHECK(got == 1);
  OK(cuEventDestroy_v2, (void *), event);
  OK(cuMemFreeHost, (void *), pinned);
  void *timed[2] = {NULL, NULL};
  float milliseconds = -1;
  for (int i = 0; i < 2; ++i) {
    OK(cuEventCreate, (void **, unsigned), &timed[i], 0);
    if (i == 0)
      CALL(400, cuEventElapsedTime, (float *, void *, void *), &milliseconds, timed[0], timed[0]);
    OK(cuEventRecord, (void *, void *), timed[i], stream);
  }
  OK(cuStreamSynchronize, (void *), stream);
  OK(cuEventElapsedTime, (float *, void *, void *), &milliseconds, timed[0], timed[1]);
  CHECK(milliseconds >= 0 && milliseconds < 1000);
  for (int i = 0; i < 2; ++i)
    OK(cuEventDestroy_v2, (void *), timed[i]);
}

/// A module by way of a link, which takes text once.
static void *linked(char *ptx) {
  void *link = NULL, *image = NULL, *module = NULL;
  size_t bytes = 0;
  OK(cuLinkCreate_v2, (unsigned, int *, void **, void **), 0, NULL, NULL, &link);
  CALL(1, cuLinkComplete, (void *, void **, size_t *), link, &image, &bytes);
  OK(cuLinkAddData_v2, (void *, int, void *, size_t, const char *, unsigned, int *, void **), link, 1, ptx, strlen(ptx) + 1, "",
     0, NULL, NULL);
  OK(cuLinkComplete, (void *, void **, size_t *), link, &image, &bytes);
  OK(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **), &module, image, 0, NULL, NULL);
  OK(cuLinkDestroy, (void *), link);
  return module;
}

static void checkRefusals(void *module) {
  void *none = NULL;
  uint64_t address = 0;
  size_t unused = 0, total = 0;
  float value = 0;
  CALL(500, cuModuleGetFunction, (void **, void *, const char *), &none, module, "nothing");
  CALL(1, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), x, &value, COUNT * 4 + 1, stream);
  CALL(1, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *), (uint64_t)&value, &value, 4, stream);
  OK(cuMemGetInfo_v2, (size_t *, size_t *), &unused, &total);
  CALL(2, cuMemAlloc_v2, (uint64_t *, size_t), &address, unused + 1);
  CALL(1, cuFuncSetAttribute, (void *, int, int), function, 8, 200 << 10);
  CALL(1, cuLaunchKernel,
       (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), function, 1, 1,
       1, 2048, 1, 1, 0, stream, (void *[3]){&x, &sums, &x}, NULL);
}

/// Reads x behind its end, which nobody knows before somebody waits; then everything fails.
static void checkFault(void) {
  const char *name = NULL;
  expect(__LINE__, sum(stream, 100 * COUNT), 0);
  CALL(700, cuStreamSynchronize, (void *), stream);
  CALL(700, cuMemAlloc_v2, (uint64_t *, size_t), (uint64_t[1]){0}, 4);
  OK(cuGetErrorName, (int, const char **), 700, &name);
  CHECK(name && !strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"));
}

int main(int count, char **arguments) {
  void *module = NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    printf("FAILED: %s\n", dlerror());
    return 1;
  }
  checkDevice();
  char *ptx = readFile(arguments[1]);
  const char *what = count > 2 ? arguments[2] : "";
  if (!strcmp(what, "refused")) {
    const Result result =
        ((Result (*)(void **, const void *, unsigned, int *, void **))symbol("cuModuleLoadDataEx"))(&module, ptx, 0, NULL, NULL);
    printf("refused: %d\n", result);
    free(ptx);
    return 0;
  }
  OK(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **), &module, ptx, 0, NULL, NULL);
  OK(cuModuleUnload, (void *), module);
  module = linked(ptx);
  OK(cuModuleGetFunction, (void **, void *, const char *), &function, module, "block_sum");
  OK(cuStreamCreate, (void **, unsigned), &stream, 1);
  OK(cuMemAlloc_v2, (uint64_t *, size_t), &x, COUNT * 4);
  OK(cuMemAlloc_v2, (uint64_t *, size_t), &sums, BLOCKS * 4);
  checkWork();
  checkGraph();
  checkKernels();
  checkEvents();
  checkRefusals(module);
  if (!strcmp(what, "touch")) // the memory of the device is not the host's
    printf("read %g\n", *(float *)x);
  if (!strcmp(what, "fault")) {
    checkFault();
  } else {
    OK(cuMemFree_v2, (uint64_t), x);
    OK(cuMemFree_v2, (uint64_t), sums);
    OK(cuModuleUnload, (void *), module);
    OK(cuStreamDestroy_v2, (void *), stream);
    OK(cuDevicePrimaryCtxRelease_v2, (int), 0);
  }
  free(ptx);
  printf("%d failures\n", failures);
  return failures != 0;
}
