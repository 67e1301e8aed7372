// What NVIDIA's assembler translates wrongly, and the driver with it.
#pragma once
#include <string>

namespace tenon::gpu {

/// PTX in which a difference of 64 bits does not begin with the upper half of a product of 32 bits:
///     mul.hi.u32 %r, ..   cvt.u64.u32 %a, %r   sub.s64 %d, %a, %b
/// The assembler (13.0; the driver 580 too, for sm_80 to sm_100) makes of them one addition of -%b, whose carry is lost where
/// the lower half of %b is 0: the upper half of %d is then all ones. Such a difference is written ~(~%a + %b). Divisions by
/// constants end in such products, so remainders of places in a tensor are such differences.
std::string withoutAssemblerDefects(const std::string &ptx);

} // namespace tenon::gpu
