#include "lowering/cpu/library/Library.h"

// TENON_KERNELS: the folder of what tenon-compile-kernels has written for each tier.
#define TENON_BYTES(symbol, file)                                                                                                \
  asm(".pushsection .rodata\n.balign 8\n"                                                                                        \
      ".globl " symbol "\n.hidden " symbol "\n" symbol ":\n.incbin \"" TENON_KERNELS "/" file "\"\n"                             \
      ".globl " symbol "_end\n.hidden " symbol "_end\n" symbol "_end:\n.byte 0\n.popsection\n")
#define TENON_HIDDEN __attribute__((visibility("hidden")))

#define TENON_TIER(tier, publicName, name, ...)                                                                                  \
  TENON_BYTES("tenon_kernels_" name "_object", name ".o");                                                                       \
  TENON_BYTES("tenon_kernels_" name "_names", name ".names");                                                                    \
  extern "C" TENON_HIDDEN const char object##tier[] asm("tenon_kernels_" name "_object");                                        \
  extern "C" TENON_HIDDEN const char objectEnd##tier[] asm("tenon_kernels_" name "_object_end");                                 \
  extern "C" TENON_HIDDEN const char names##tier[] asm("tenon_kernels_" name "_names");                                          \
  extern "C" TENON_HIDDEN const char namesEnd##tier[] asm("tenon_kernels_" name "_names_end");
#include "runtime/include/tenon/tiers.def"

namespace tenon::cpu {

const KernelLibrary &kernelLibrary() {
  static const KernelLibrary library({
#define TENON_TIER(tier, publicName, name, ...)                                                                                  \
  {name ".kernels", {object##tier, size_t(objectEnd##tier - object##tier)}, {names##tier, size_t(namesEnd##tier - names##tier)}},
#include "runtime/include/tenon/tiers.def"
  });
  return library;
}

} // namespace tenon::cpu
