// Preloaded: counts what the C library hands out in the whole process; operator new ends here as well.
#include <stdatomic.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
static atomic_long allocations;

long tenon_test_allocations(void) { return atomic_load(&allocations); }
void *malloc(size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  atomic_fetch_add(&allocations, 1);
  *result = __libc_memalign(alignment, bytes);
  return *result ? 0 : 12; // ENOMEM
}
