#ifndef TENON_TEST_BENCH_GEMM_REPLACEINSTRUCTIONS_H
#define TENON_TEST_BENCH_GEMM_REPLACEINSTRUCTIONS_H

namespace llvm {
class Module;
}

namespace tenon::test {

/// Instructions that few machines have become calls of functions of this process that compute what they are defined to
/// (DotPairs.h, Tiles.h): vdpbf16ps and those of AMX. The code is for this process alone.
void replaceInstructions(llvm::Module &module);
/// Those of AMX alone.
void replaceTiles(llvm::Module &module);

} // namespace tenon::test

#endif // TENON_TEST_BENCH_GEMM_REPLACEINSTRUCTIONS_H
