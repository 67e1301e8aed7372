// Elementwise ops. Operands and result have one shape: broadcasting is an op of its own.
#ifndef TENON_ELEMENTWISE_OPS_TD
#define TENON_ELEMENTWISE_OPS_TD
include "ElementwiseClasses.td"

def Tenon_NegOp : Tenon_Unary<"neg", "-x", "`dx = -dy`", "IEEE 754-2019, section 5.5.1 (negate)", Tenon_Tensor> {
  let hasFolder = 1;
}
def Tenon_ExpOp : Tenon_Unary<"exp", "exp(x)", "`dx = dy * y`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor, "f32", 12>;
def Tenon_LogOp : Tenon_Unary<"log", "ln(x)", "`dx = dy / x`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor, "f32", 12>;
def Tenon_SqrtOp : Tenon_Unary<"sqrt", "sqrt(x)", "`dx = dy / (2 y)`", "IEEE 754-2019, section 5.4.1", Tenon_RealTensor, "f32",
                               3> { let hasFolder = 1; }
def Tenon_AbsOp : Tenon_Unary<"abs", "|x|", "`dx = dy * sign(x)`", "IEEE 754-2019, section 5.5.1, but for -0, which stays",
                              Tenon_Tensor> { let hasFolder = 1; }
def Tenon_SinOp : Tenon_Unary<"sin", "sin(x)", "`dx = dy * cos(x)`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor, "f32", 12>;
def Tenon_CosOp : Tenon_Unary<"cos", "cos(x)", "`dx = -dy * sin(x)`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor,
                              "f32", 12>;
def Tenon_AtanOp : Tenon_Unary<"atan", "atan(x)", "`dx = dy / (1 + x^2)`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor,
                               "f32", 12>;
def Tenon_ErfOp : Tenon_Unary<"erf", "erf(x)", "`dx = dy * 2 / sqrt(pi) * exp(-x^2)`", "ISO/IEC 9899:2024, section 7.12.9.1",
                              Tenon_RealTensor, "f32", 12>;
def Tenon_TanhOp : Tenon_Unary<"tanh", "tanh(x)", "`dx = dy * (1 - y^2)`", "IEEE 754-2019, section 9.2.1", Tenon_RealTensor,
                               "f32", 12>;
def Tenon_SigmoidOp : Tenon_Unary<"sigmoid", "1 / (1 + exp(-x))", "`dx = dy * y * (1 - y)`",
                                  "Rumelhart, Hinton, Williams 1986, equation 2", Tenon_RealTensor, "f32", 12>;
def Tenon_ReluOp : Tenon_Unary<"relu", "max(x, 0)", "`dx = x > 0 ? dy : 0`", "Nair & Hinton 2010, section 2; a NaN stays"> {
  let hasFolder = 1;
}
def Tenon_GeluOp : Tenon_Unary<"gelu", "x * (1 + erf(x / sqrt(2))) / 2", "`dx = dy * (Phi(x) + x * phi(x))`",
                               "Hendrycks & Gimpel 2016, section 2", Tenon_RealTensor, "f32", 12>;
def Tenon_GeluTanhOp : Tenon_Unary<"gelu_tanh", "x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2",
                                   "`dx = dy * dy/dx of the formula`", "Hendrycks & Gimpel 2016, section 2 (the approximation)",
                                   Tenon_RealTensor, "f32", 12>;
def Tenon_NotOp : Tenon_Unary<"not", "not x", "none: a predicate", "docs/language.md, masks", Tenon_BoolTensor, "i1"> {
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Tenon_StopGradientOp : Tenon_Unary<"stop_gradient", "x", "`dx = 0`", "Dai et al. 2019, section 3.2 (SG)", Tenon_Tensor, "f32",
                                       1, [Tenon_View, Tenon_StopsGradient]> { let hasFolder = 1; }

def Tenon_ActivationGradOp : Tenon_Elementwise<"activation_grad", [AllTypesMatch<["x", "dy", "dx"]>], 12> {
  let summary = "gradient of gelu or gelu_tanh at x";
  let description = [{
    Formula: `dx = dy * f'(x)`, f named by `of`: `gelu` f' = Phi(x) + x phi(x); `gelu_tanh` the derivative of its formula.

    | operand | shape | dtype |
    |---|---|---|
    | x, dy | as dx | real, as dx |

    Constraints: C1 `of` is gelu or gelu_tanh; C2 x, dy and dx have one type.

    Gradient: not supported yet (a second derivative).

    Source: Hendrycks & Gimpel 2016, section 2.

    Example:
    ```mlir
    %dx = tenon.activation_grad "gelu" %x, %dy : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$of, Tenon_RealTensor:$x, Tenon_RealTensor:$dy);
  let results = (outs Tenon_RealTensor:$dx);
  let assemblyFormat = "$of $x `,` $dy attr-dict `:` type($dx)";
  let hasVerifier = 1;
}

class Tenon_Binary<string mnemonic, string formula, string gradient, string source, TypeConstraint type = Tenon_Tensor,
                   string element = "f32", int cost = 1>
    : Tenon_Elementwise<mnemonic, [SameOperandsAndResultType, Tenon_ElementFormula], cost> {
  let summary = "elementwise " # formula;
  let description = "Formula: `y = " # formula # "`.\n\n| operand | shape | dtype |\n|---|---|---|\n| a, b | as y | as y |\n\n"
    # "Constraints: C1 a, b and y have one type.\n\nGradient: " # gradient # ".\n\nSource: " # source
    # ".\n\nExample:\n```mlir\n%y = tenon." # mnemonic # " %a, %b : tensor<4x8x" # element # ">\n```\n";
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
}
def Tenon_AddOp : Tenon_Binary<"add", "a + b", "da = dy, db = dy", "IEEE 754-2019, section 5.4.1; integers wrap"> {
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Tenon_SubOp : Tenon_Binary<"sub", "a - b", "da = dy, db = -dy", "IEEE 754-2019, section 5.4.1; integers wrap"> {
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Tenon_MulOp : Tenon_Binary<"mul", "a * b", "da = dy * b, db = dy * a", "IEEE 754-2019, section 5.4.1; integers wrap"> {
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Tenon_DivOp : Tenon_Binary<"div", "a / b", "da = dy / b, db = -dy * y / b", "IEEE 754-2019, section 5.4.1", Tenon_RealTensor,
                               "f32", 3> { let hasFolder = 1; let hasCanonicalizeMethod = 1; }
def Tenon_PowOp : Tenon_Binary<"pow", "a ^ b", "da = dy * b * a^(b-1), db = dy * y * ln(a)",
                               "IEEE 754-2019, section 9.2.1; db is left out where b is a constant", Tenon_RealTensor, "f32", 12>;
def Tenon_MaxOp : Tenon_Binary<"max", "max(a, b)", "dy goes to a where a > b, to b where b > a, half to each where equal",
                               "IEEE 754-2019, section 9.6, maximum, but for two zeros, of which it may be either; NaN where "
                               "a or b is; the gradient is that of PyTorch's maximum"> { let hasFolder = 1; }
def Tenon_MinOp : Tenon_Binary<"min", "min(a, b)", "dy goes to a where a < b, to b where b < a, half to each where equal",
                               "IEEE 754-2019, section 9.6, minimum, but for two zeros, of which it may be either; NaN where "
                               "a or b is; the gradient is that of PyTorch's minimum"> { let hasFolder = 1; }
def Tenon_FloorDivOp : Tenon_Binary<"floordiv", "floor(a / b), 0 where b is 0", "none: integers",
                                    "Knuth, The Art of Computer Programming 1, section 1.2.4", Tenon_IntTensor, "i32"> {
  let hasFolder = 1;
}
def Tenon_ModOp : Tenon_Binary<"mod", "a - b * floor(a / b), a where b is 0", "none: integers",
                               "Knuth, The Art of Computer Programming 1, section 1.2.4", Tenon_IntTensor, "i32"> {
  let hasFolder = 1;
}
def Tenon_AndOp : Tenon_Binary<"and", "a and b", "none: predicates", "docs/language.md, masks", Tenon_BoolTensor, "i1"> {
  let hasFolder = 1;
}
def Tenon_OrOp : Tenon_Binary<"or", "a or b", "none: predicates", "docs/language.md, masks", Tenon_BoolTensor, "i1"> {
  let hasFolder = 1;
}

def Tenon_Comparison : I32EnumAttr<"Comparison", "comparison of two elements",
    [I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>]> {
  let cppNamespace = "::tenon";
}
def Tenon_CompareOp : Tenon_Elementwise<"compare", [SameTypeOperands, InferTypeOpAdaptor, Tenon_ElementFormula]> {
  let summary = "elementwise comparison";
  let description = [{
    Formula: `y = a eq|ne|lt|le b`. Integers compare as signed numbers; a comparison with NaN is false but for `ne`.

    | operand | shape | dtype |
    |---|---|---|
    | a, b | as y | any, both the same |

    Constraints: C1 y has truth values and the shape of a and b; C2 a and b have one type.

    Gradient: none, y has truth values.

    Source: IEEE 754-2019, section 5.11 (ordered, and unordered for `ne`).

    Example:
    ```mlir
    %y = tenon.compare lt %a, %b : tensor<4xi32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Tenon_Comparison:$kind, Tenon_Tensor:$a, Tenon_Tensor:$b);
  let results = (outs Tenon_BoolTensor:$y);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($a) `->` type($y)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The gradient of a maximum looks for the elements that equal it: they have to be the numbers it was taken of.
    bool comparesExactly() {
      return getKind() == Comparison::eq && ::llvm::isa<::mlir::FloatType>(getA().getType().getElementType());
    }
  }];
}
def Tenon_SelectOp : Tenon_Elementwise<"select", [AllTypesMatch<["a", "b", "y"]>, Tenon_ElementFormula]> {
  let summary = "elementwise choice";
  let description = [{
    Formula: `y = c ? a : b`.

    | operand | shape | dtype |
    |---|---|---|
    | c | as y | truth value |
    | a, b | as y | as y |

    Constraints: C1 c has the shape of y; C2 a, b and y have one type.

    Gradient: `da = c ? dy : 0`, `db = c ? 0 : dy`; none for c.

    Source: IEEE 754-2019 has none; as LLVM's `select`: the operand that is not chosen has no influence, be it NaN.

    Example:
    ```mlir
    %y = tenon.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_BoolTensor:$c, Tenon_Tensor:$a, Tenon_Tensor:$b);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$c `,` $a `,` $b attr-dict `:` type($c) `,` type($y)";
  let extraClassDeclaration = [{
    MaybeReading readingOf(mlir::OpOperand &operand);
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Tenon_ConvertOp : Tenon_Elementwise<"convert", [Tenon_ElementFormula]> {
  let summary = "elementwise change of the element type";
  let description = [{
    Formula: `y = x` in the element type of y. Integers and truth values to reals or wider integers, reals to other reals (rounded
    to nearest, ties to even).

    | operand | shape | dtype |
    |---|---|---|
    | x | as y | any |

    Constraints: C1 one shape; C2 no reals to integers.

    Gradient: `dx = convert(dy)` between reals, none otherwise.

    Source: IEEE 754-2019, sections 5.4.1 (from integers) and 5.4.2 (between formats).

    Example:
    ```mlir
    %y = tenon.convert %x : tensor<4xi1> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_Tensor:$x);
  let results = (outs Tenon_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Tenon_ElementCost<"1">.method # [{
    /// What was rounded is smaller, and all that anybody reads; what was widened is made of less.
    std::optional<bool> isMadeAgain();
  }];
}
def Tenon_JoinOp : Tenon_Op<"join", [Pure, Tenon_ElementwiseTrait, Tenon_Source,
                                     DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "f32 from its upper half and the remainder";
  let description = [{
    Formula: `bits(y) = bits(upper) * 2^16 + remainder`, the remainder taken as a signed integer: `upper` is y
    rounded to bf16, ties away from zero, and `remainder` what rounding took away. Exact for every y. Costs nothing and never has
    memory of its own: it is how a parameter that lies there in two halves is loaded.

    | operand | shape | dtype |
    |---|---|---|
    | upper | as y | bf16 |
    | remainder | as y | i16: last places of y, and no number of its own |

    Constraints: C1 y has f32, upper bf16, remainder i16; C2 one shape.

    Gradient: none, parameters are split after differentiation.

    Source: IEEE 754-2019, section 3.4 (neighbouring encodings are neighbouring integers); docs/training.md, "Mixed precision".

    Example:
    ```mlir
    %y = tenon.join %upper, %remainder : tensor<4xbf16>, tensor<4xi16> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$upper, Tenon_RemainderTensor:$remainder);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$upper `,` $remainder attr-dict `:` type($upper) `,` type($remainder) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = Tenon_ElementCost<"0">.method;
}
def Tenon_MapOp : Tenon_Op<"map", [Pure, IsolatedFromAbove, SingleBlock, Tenon_ElementwiseTrait,
                                   DeclareOpInterfaceMethods<ElementOpInterface, ["elementCost"]>]> {
  let summary = "scalar code, applied to every element";
  let description = [{
    Formula: `y[i] = code(inputs[i])` at all indices i.

    | operand | shape | dtype |
    |---|---|---|
    | inputs | as y | any, each its own |

    The region is the scalar code of an element: the block takes an element of each input and yields that of y. It may be any
    code that the fused op had, of whatever dialect: nobody but the target's code for scalars knows its ops. Decompositions make
    it of the step and the place of attention (`Build::map`); a specification has none.

    Constraints: C1 inputs have the shape of y; C2 the block takes a scalar of the element type of each input; C3 its ops are
    scalar code: without regions and effects, of numbers, truth values and indices; C4 it yields one scalar of the element type
    of y.

    Gradient: none, it is made behind differentiation; the step of attention brings its derivative, which is a map of its own.

    Source: map of functional languages (McCarthy 1960, maplist), as MLIR's `linalg.map`, of values and without a destination.

    Example:
    ```mlir
    %y = tenon.map %x : tensor<4x8xf32> -> tensor<4x8xf32> {
    ^bb0(%e: f32):
      %p = math.erf %e : f32
      %z = arith.mulf %p, %e : f32
      tenon.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tenon_Tensor>:$inputs);
  let results = (outs Tenon_Tensor:$y);
  let regions = (region SizedRegion<1>:$code);
  let assemblyFormat = "($inputs^ `:` type($inputs))? `->` type($y) attr-dict-with-keyword $code";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
#endif
