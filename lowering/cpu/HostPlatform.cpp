#include "lowering/cpu/HostPlatform.h"
#include "lowering/cpu/OneLaneStores.h"

namespace tenon::cpu {

const HostPlatform &hostPlatform() {
  static const HostPlatform platform{"x86_64-pc-linux-gnu",
                                     "x86-64",
                                     128,
                                     {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"},
                                     storeSingleLanes};
  return platform;
}

} // namespace tenon::cpu
