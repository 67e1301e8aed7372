// All ops of the dialect, for what is made of their descriptions. Most code is compiled against those of TenonOps.td; a family
// that few files know has a header of its own.
include "TenonOps.td"
include "RoundOps.td"
include "ContractionOps.td"
include "BlockOps.td"
include "PackOps.td"
include "WholeNumberOps.td"
