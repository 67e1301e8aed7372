// Both public headers must be C++ as well as C.
#include <tenon/artifact.h>
#include <tenon/runtime.h>
static_assert(sizeof(TnContext) == 160, "the layout is known to compiled models");
int abiOfThisProgram() { return tn_abi_version() == TN_ABI_VERSION; }
