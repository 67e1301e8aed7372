// Elementwise ops. Operands and result have one shape: broadcasting is an op of its own.
#ifndef TENON_ELEMENTWISE_OPS_TD
#define TENON_ELEMENTWISE_OPS_TD
include "TenonDialect.td"

class Tenon_Elementwise<string mnemonic, list<Trait> traits = []> : Tenon_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ElementOpInterface>, DeclareOpInterfaceMethods<DifferentiableOpInterface>], traits)>;

class Tenon_Unary<string mnemonic, string formula, string gradient, TypeConstraint type = Tenon_RealTensor, string element = "f32">
    : Tenon_Elementwise<mnemonic, [SameOperandsAndResultType]> {
  let summary = "elementwise " # formula;
  let description = "Formula: `y = " # formula # "`.\n\n| operand | shape | dtype |\n|---|---|---|\n| x | any | as y |\n\n"
    # "Gradient: `dx = " # gradient # "`.\n\nExample:\n```mlir\n%y = tenon." # mnemonic # " %x : tensor<4x8x" # element # ">\n```\n";
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
def Tenon_NegOp : Tenon_Unary<"neg", "-x", "-dy", Tenon_Tensor>;
def Tenon_ExpOp : Tenon_Unary<"exp", "exp(x)", "dy * y">;
def Tenon_LogOp : Tenon_Unary<"log", "ln(x)", "dy / x">;
def Tenon_SqrtOp : Tenon_Unary<"sqrt", "sqrt(x)", "dy / (2 y)">;
def Tenon_AbsOp : Tenon_Unary<"abs", "|x|", "dy * sign(x)", Tenon_Tensor>;
def Tenon_SinOp : Tenon_Unary<"sin", "sin(x)", "dy * cos(x)">;
def Tenon_CosOp : Tenon_Unary<"cos", "cos(x)", "-dy * sin(x)">;
def Tenon_TanhOp : Tenon_Unary<"tanh", "tanh(x)", "dy * (1 - y^2)">;
def Tenon_SigmoidOp : Tenon_Unary<"sigmoid", "1 / (1 + exp(-x))", "dy * y * (1 - y)">;
def Tenon_ReluOp : Tenon_Unary<"relu", "max(x, 0)", "x > 0 ? dy : 0">;
def Tenon_GeluOp : Tenon_Unary<"gelu", "x * (1 + erf(x / sqrt(2))) / 2", "dy * (Phi(x) + x * phi(x))">;
def Tenon_GeluTanhOp : Tenon_Unary<"gelu_tanh", "x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2", "dy * dy/dx of the formula">;
def Tenon_NotOp : Tenon_Unary<"not", "not x", "none: a predicate", Tenon_BoolTensor, "i1">;
def Tenon_StopGradientOp : Tenon_Unary<"stop_gradient", "x", "0", Tenon_Tensor>;

def Tenon_ActivationGradOp : Tenon_Elementwise<"activation_grad", [AllTypesMatch<["x", "dy", "dx"]>]> {
  let summary = "gradient of gelu or gelu_tanh at x";
  let description = "Formula: `dx = dy * f'(x)`, f named by `of`: `gelu` f' = Phi(x) + x phi(x); `gelu_tanh` the derivative of its formula. A second derivative is not supported yet.\n\nExample:\n```mlir\n%dx = tenon.activation_grad \"gelu\" %x, %dy : tensor<4x8xf32>\n```\n";
  let arguments = (ins StrAttr:$of, Tenon_RealTensor:$x, Tenon_RealTensor:$dy);
  let results = (outs Tenon_RealTensor:$dx);
  let assemblyFormat = "$of $x `,` $dy attr-dict `:` type($dx)";
  let hasVerifier = 1;
}

class Tenon_Binary<string mnemonic, string formula, string gradient, TypeConstraint type = Tenon_Tensor, string element = "f32">
    : Tenon_Elementwise<mnemonic, [SameOperandsAndResultType]> {
  let summary = "elementwise " # formula;
  let description = "Formula: `y = " # formula # "`.\n\n| operand | shape | dtype |\n|---|---|---|\n| a, b | as y | as y |\n\n"
    # "Gradient: " # gradient # ".\n\nExample:\n```mlir\n%y = tenon." # mnemonic # " %a, %b : tensor<4x8x" # element # ">\n```\n";
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
}
def Tenon_AddOp : Tenon_Binary<"add", "a + b", "da = dy, db = dy">;
def Tenon_SubOp : Tenon_Binary<"sub", "a - b", "da = dy, db = -dy">;
def Tenon_MulOp : Tenon_Binary<"mul", "a * b", "da = dy * b, db = dy * a">;
def Tenon_DivOp : Tenon_Binary<"div", "a / b", "da = dy / b, db = -dy * y / b", Tenon_RealTensor>;
def Tenon_PowOp : Tenon_Binary<"pow", "a ^ b", "da = dy * b * a^(b-1), db = dy * y * ln(a)", Tenon_RealTensor>;
def Tenon_MaxOp : Tenon_Binary<"max", "max(a, b)", "dy goes to a where a > b, to b where b > a, half to each where equal">;
def Tenon_MinOp : Tenon_Binary<"min", "min(a, b)", "dy goes to a where a < b, to b where b < a, half to each where equal">;
def Tenon_FloorDivOp : Tenon_Binary<"floordiv", "floor(a / b)", "none: integers", Tenon_IntTensor, "i32">;
def Tenon_ModOp : Tenon_Binary<"mod", "a - b * floor(a / b)", "none: integers", Tenon_IntTensor, "i32">;
def Tenon_AndOp : Tenon_Binary<"and", "a and b", "none: predicates", Tenon_BoolTensor, "i1">;
def Tenon_OrOp : Tenon_Binary<"or", "a or b", "none: predicates", Tenon_BoolTensor, "i1">;

def Tenon_Comparison : I32EnumAttr<"Comparison", "comparison of two elements",
    [I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>]> {
  let cppNamespace = "::tenon";
}
def Tenon_CompareOp : Tenon_Elementwise<"compare", [SameTypeOperands]> {
  let summary = "elementwise comparison";
  let description = "Formula: `y = a eq|ne|lt|le b`. Integers compare as signed numbers; a comparison with NaN is false but for `ne`.\n\nGradient: none.\n\nExample:\n```mlir\n%y = tenon.compare lt %a, %b : tensor<4xi32> -> tensor<4xi1>\n```\n";
  let arguments = (ins Tenon_Comparison:$kind, Tenon_Tensor:$a, Tenon_Tensor:$b);
  let results = (outs Tenon_BoolTensor:$y);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($a) `->` type($y)";
  let hasVerifier = 1;
}
def Tenon_SelectOp : Tenon_Elementwise<"select", [AllTypesMatch<["a", "b", "y"]>]> {
  let summary = "elementwise choice";
  let description = "Formula: `y = c ? a : b`.\n\nGradient: `da = c ? dy : 0`, `db = c ? 0 : dy`.\n\nExample:\n```mlir\n%y = tenon.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>\n```\n";
  let arguments = (ins Tenon_BoolTensor:$c, Tenon_Tensor:$a, Tenon_Tensor:$b);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$c `,` $a `,` $b attr-dict `:` type($c) `,` type($y)";
  let hasVerifier = 1;
}
def Tenon_ConvertOp : Tenon_Elementwise<"convert"> {
  let summary = "elementwise change of the element type";
  let description = "Integers and truth values to reals or wider integers, reals to other reals (rounded to nearest).\n\nGradient: `dx = convert(dy)` between reals, none otherwise.\n\nExample:\n```mlir\n%y = tenon.convert %x : tensor<4xi1> -> tensor<4xf32>\n```\n";
  let arguments = (ins Tenon_Tensor:$x);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}
#endif
