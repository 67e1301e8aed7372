// What attends see, kept to be looked at.
#pragma once
#include "frontend/Program.h"

namespace tenon::sema {

/// Gives every attend of an entry a state with its weights after mask and softmax, before dropout: the result of an attend whose
/// value is the identity over the keys. The state is `attention[T, S] blocks.*.attn`, with the axes of queries and keys that it
/// ends with and the path of the layer, and -1 where no attend has written. Axes that the value alone has are not in it. Nodes
/// and states are added behind the others.
void keepAttentionMaps(Entry &entry);

} // namespace tenon::sema
