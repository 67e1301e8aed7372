/* What a kernel of a GPU is given of a tensor beside addresses and numbers, and which launches a device asks an entry for. */
#ifndef TENON_TENSOR_MAP_H
#define TENON_TENSOR_MAP_H
#include <stdint.h>

/* A tensor of 16-bit elements in the device's memory as its engine of copies reads it: a box at a time, zeros outside of the
 * tensor, in shared memory with the innermost 128 bytes in the order of the 128-byte swizzle. Where a kernel has some, they are
 * its first arguments: the count that TnContext::launch is given is that of all arguments plus that of maps times
 * TN_MAP_ARGUMENT, and the address of such an argument is that of one of these. */
typedef struct TnTensorMap {
  uint64_t address;    /* a multiple of 16 */
  uint64_t sizes[5];   /* elements, innermost first; 0: nothing of it is read */
  uint64_t strides[4]; /* bytes from one element to the next of all dims but the innermost, multiples of 16 */
  uint32_t box[5];     /* elements */
  uint32_t rank;       /* 2 to 5 */
} TnTensorMap;

enum { TN_MAP_ARGUMENT = 1 << 16 };

/* In TnContext::flags, beside TnFlag: the entry launches only what depends on more than flags, dims and addresses, so on
 * numbers of the run (step, seed, levels of slices). A device sets it that knows the other launches of such a run. */
enum { TN_NUMBERS_ONLY = 4 };

#endif
