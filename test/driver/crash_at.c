// A library to preload: it kills the process with SIGKILL at a chosen place of its training run, as TENON_CRASH says.
//   save:N    at the N-th system call of the first save, counted from 0; a write leaves half of its bytes
//   any:N     at the N-th of these system calls of the whole process
//   count-any before the first line of metrics.jsonl, and the line says how many they were
//   count     after the first save, and the line says how many calls it took
//   line:N    in the N-th line of metrics.jsonl, of which half is written
//   step:N:U  U microseconds after the N-th line of metrics.jsonl, in the middle of a step
// Before it kills, one line about the place goes to the file TENON_CRASH_LOG.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long saveCall = -1, anyCall = -1, lineNumber = -1, microseconds = -1; // from TENON_CRASH; -1: not asked for
static int inSave, saves, counting, countingAny;
static long calls, anyCalls, lines;

__attribute__((constructor)) static void readPlan(void) {
  const char *plan = getenv("TENON_CRASH");
  counting = plan && strcmp(plan, "count") == 0;
  countingAny = plan && strcmp(plan, "count-any") == 0;
  if (plan && sscanf(plan, "save:%ld", &saveCall) != 1 && sscanf(plan, "any:%ld", &anyCall) != 1 &&
      sscanf(plan, "step:%ld:%ld", &lineNumber, &microseconds) != 2)
    sscanf(plan, "line:%ld", &lineNumber);
}

static ssize_t realWrite(int file, const void *data, size_t bytes) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "write");
  return next(file, data, bytes);
}

static void die(const char *where, long number) {
  char text[80];
  int length = snprintf(text, sizeof text, "%s %ld\n", where, number),
      file = open(getenv("TENON_CRASH_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0 || realWrite(file, text, (size_t)length) != length)
    abort();
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}

/// Whether the plan kills at this call.
static int strikes(void) {
  const int ofAll = anyCalls++ == anyCall, ofSave = inSave && calls++ == saveCall;
  return ofAll || ofSave;
}

static void dieAt(const char *call) {
  char where[40];
  snprintf(where, sizeof where, "%s: %s", anyCall >= 0 ? "any" : "save", call);
  die(where, anyCall >= 0 ? anyCall : saveCall);
}

static void *dieLater(void *unused) {
  (void)unused;
  usleep((useconds_t)microseconds);
  die("step", lines);
  return NULL;
}

/// The path behind a descriptor.
static const char *pathOf(int file, char *path, size_t size) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = 0;
  return path;
}

ssize_t write(int file, const void *data, size_t bytes) {
  char path[4096];
  if (strikes()) {
    (void)!realWrite(file, data, bytes / 2);
    dieAt("write");
  }
  const char *name = strrchr(pathOf(file, path, sizeof path), '/');
  if (countingAny && name && strcmp(name, "/metrics.jsonl") == 0)
    die("calls", anyCalls - 1);
  if (inSave || !name || strcmp(name, "/metrics.jsonl") != 0)
    return realWrite(file, data, bytes);
  ++lines;
  while (microseconds >= 0 &&
         lines > lineNumber + 1) // on a busy machine the other thread comes late: no more than one step is done meanwhile
    pause();
  if (microseconds < 0 && lines == lineNumber) {
    (void)!realWrite(file, data, bytes / 2);
    die("line", lines);
  }
  ssize_t written = realWrite(file, data, bytes);
  pthread_t thread;
  if (microseconds >= 0 && lines == lineNumber && pthread_create(&thread, NULL, dieLater, NULL) != 0)
    abort();
  return written;
}

#define NEXT(type, name, ...)                                                                                                    \
  static type (*next)(__VA_ARGS__);                                                                                              \
  if (!next)                                                                                                                     \
  *(void **)&next = dlsym(RTLD_NEXT, name)

int mkdir(const char *path, mode_t mode) {
  NEXT(int, "mkdir", const char *, mode_t);
  size_t length = strlen(path);
  if (strstr(path, "/checkpoints/step-") && length > 4 && strcmp(path + length - 4, ".tmp") == 0)
    inSave = saves++ == 0; // until its directory is synced, below
  if (strikes())
    dieAt("mkdir");
  return next(path, mode);
}

int fsync(int file) {
  NEXT(int, "fsync", int);
  char path[4096];
  if (strikes())
    dieAt("fsync");
  int result = next(file);
  size_t length = strlen(pathOf(file, path, sizeof path));
  if (length >= 12 && strcmp(path + length - 12, "/checkpoints") == 0) {
    if (inSave && counting)
      die("calls", calls);
    inSave = 0;
  }
  return result;
}

int renameat(int from, const char *old, int to, const char *path) {
  NEXT(int, "renameat", int, const char *, int, const char *);
  if (strikes())
    dieAt("rename");
  return next(from, old, to, path);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  NEXT(int, "posix_fallocate", int, off_t, off_t);
  if (strikes())
    dieAt("reserve");
  return next(file, offset, bytes);
}

int rename(const char *old, const char *path) {
  NEXT(int, "rename", const char *, const char *);
  if (strikes())
    dieAt("rename");
  return next(old, path);
}

int renameat2(int from, const char *old, int to, const char *path, unsigned flags) {
  NEXT(int, "renameat2", int, const char *, int, const char *, unsigned);
  if (strikes())
    dieAt("exchange");
  return next(from, old, to, path, flags);
}

int ftruncate(int file, off_t bytes) {
  NEXT(int, "ftruncate", int, off_t);
  if (strikes())
    dieAt("shorten");
  return next(file, bytes);
}

int truncate(const char *path, off_t bytes) {
  NEXT(int, "truncate", const char *, off_t);
  if (strikes())
    dieAt("shorten");
  return next(path, bytes);
}
