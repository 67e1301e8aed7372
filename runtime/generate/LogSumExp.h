// log(sum of exp) of a row of logits, by vectors of any width with the same bits on every machine.
#pragma once
#include <cstddef>

namespace tenon::generate {

/// log(exp(v[0]) + ... + exp(v[count - 1])) in f64; not finite where a value is NaN or all are infinite. Relative error of the
/// sum below 1e-14: additions, multiplications and a division by powers of two only, in eight running sums.
double logSumExp(const double *values, size_t count);
/// The same by vectors that every x86-64 has: what machines without AVX-512 take.
double logSumExpByNarrowVectors(const double *values, size_t count);

} // namespace tenon::generate
