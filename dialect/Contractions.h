// Contractions that leave products out.
#pragma once
#include "dialect/TenonDialect.h"

#define GET_OP_CLASSES
#include "dialect/ContractionOps.h.inc"
