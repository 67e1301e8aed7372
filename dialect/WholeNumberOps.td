// Rounding to whole numbers.
#ifndef TENON_WHOLE_NUMBER_OPS_TD
#define TENON_WHOLE_NUMBER_OPS_TD
include "ElementwiseClasses.td"

class Tenon_Rounding<string mnemonic, string formula, string operation>
    : Tenon_Unary<mnemonic, formula, "none: steps", "IEEE 754-2019, section 5.9 (" # operation # ")", Tenon_RealTensor, "f32", 1,
                  [Tenon_ElementFormula, Tenon_StopsGradient]>;
def Tenon_RoundOp : Tenon_Rounding<"round", "the whole number next to x, of two the even one", "roundToIntegralTiesToEven">;
def Tenon_FloorOp : Tenon_Rounding<"floor", "the largest whole number up to x", "roundToIntegralTowardNegative">;
def Tenon_CeilOp : Tenon_Rounding<"ceil", "the smallest whole number from x on", "roundToIntegralTowardPositive">;
#endif
