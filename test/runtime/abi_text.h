/* The version of the ABI as text, for manifests written by hand. */
#include "runtime/include/tenon/artifact.h"
#define TN_TEXT(value) #value
#define TN_TEXT_OF(macro) TN_TEXT(macro)
#define ABI_TEXT TN_TEXT_OF(TN_ABI_VERSION)
