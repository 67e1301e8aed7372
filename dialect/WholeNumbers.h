// Rounding to whole numbers, through which no gradient goes.
#pragma once
#include "dialect/TenonDialect.h"

#define GET_OP_CLASSES
#include "dialect/WholeNumberOps.h.inc"
