// Initial values of parameters, and of states of the model. Each is a function of (seed, name, logical element index):
// independent of order, threads and layout.
#pragma once
#include "runtime/artifact/Manifest.h"

namespace tenon::runtime {

/// One stack element of a parameter, or of a state of the model.
struct InitialTensor {
  const InitializerInfo &init;
  std::string name; // draws hang on it: a state that starts as a parameter has that one's
  std::vector<int64_t> shape;
  int64_t stackIndex = 0;
  int64_t elements() const;
};

/// Elements [first, first + count) of one stack element in logical order. The compiler has resolved fans: `a` is
/// the bound of uniform and xavier_uniform, the deviation of the normal kinds, the gain of orthogonal (whose range must be the
/// whole tensor: first axis against the rest).
void initialValues(const InitialTensor &tensor, uint64_t seed, int64_t first, int64_t count, double *values);
/// All of it in elements of `type`, cut into ranges for the threads; the values do not depend on the cut.
void initializeTensor(const InitialTensor &tensor, uint64_t seed, DataType type, char *target);

} // namespace tenon::runtime
