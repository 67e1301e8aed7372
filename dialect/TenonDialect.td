// The dialect `tenon`, its base op class and the tensor types its ops accept.
#ifndef TENON_DIALECT_TD
#define TENON_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "TenonInterfaces.td"

def Tenon_Dialect : Dialect {
  let name = "tenon";
  let cppNamespace = "::tenon";
  let summary = "Sequence models: attention with score terms and mask predicates, stacks that stay loops, training";
  let description = [{
    Tensors are builtin ranked tensors. A size that depends on a symbolic dim of the entry is `?` in the shape, and the type then
    carries the sizes as an affine map over the dims of the entry: `tensor<?x768xf32, affine_map<(d0) -> (d0 + 150, 768)>>`. Equal
    types have equal sizes, so no op ever asks for a size at run time. The dims of the map are those of the entry around the op
    (C0 of every op).

    An entry is a function. What its attributes say, and what is verified of it (EntryAttributes.cpp):

    | | attribute | value |
    |---|---|---|
    | E1 | tenon.dims | names of the symbolic dims, "B*T" a product; the first arguments are their sizes, the others tensors |
    | E2 | tenon.kind | "out", "eval" or "train" |
    | E3 | tenon.states | the types of its states, tensors over the dims |
    | E4 | tenon.in_place | one truth value per state: kept in place, not swapped |
    | E5 | tenon.walk | {position: number of a state, count: number of a dim, capacity: form}: position + count <= capacity |
    | E6 | tenon.slices | of a train entry: the number of slices of a batch; it is written for one of them, and run for each |

    What ops of the tensor form are computed in is said by these, until `tenon-apply-numerics` has put it into types of operands:

    | | attribute | value |
    |---|---|---|
    | E7 | tenon.compute of a module | bf16 or f16: contractions multiply that type, parameters have copies in it without E10 |
    | E8 | tenon.compute of an op | f32, bf16 or f16: of a contraction that multiplies another type than its module says |
    | E9 | tenon.reduce of a module | f64: what sums is computed in it (reductions, softmax, normalizers, losses, attention) |
    | E10 | tenon.parameters of a module | bf16 or f16: parameters of f32 lie in memory in that type, without E11 in no other |
    | E11 | tenon.remainders of a module with E10 of bf16 | i16: 16 bits more lie beside each and give its f32 (tenon.join) |

    Where weights lie (Panels.h), said by `tenon-panel-parameters`:

    | | attribute | value |
    |---|---|---|
    | E12 | tenon.panels of a parameter, gemm or pack | [leading, width, steps, transposed]: it, operand b or the result lies so |

    A contraction with E8 (dot, attend, attention, attention_grad) hands it on to its gradient and to its parts.
  }];
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

/// Size maps of the results are over the dims of the entry around the op, where that says how many it has (TensorSizes.h).
def Tenon_SizesOfEntry : NativeOpTrait<"SizesOfEntry"> {
  let cppNamespace = "::tenon";
}
/// What an op says about itself besides its interfaces (Traits.h).
class Tenon_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::tenon";
}
def Tenon_Source : Tenon_Trait<"ElementSource">;
def Tenon_View : Tenon_Trait<"View">;
def Tenon_Moves : Tenon_Trait<"Moves">;
def Tenon_Address : Tenon_Trait<"Address">;
def Tenon_ElementwiseTrait : Tenon_Trait<"Elementwise">;
def Tenon_ElementFormula : Tenon_Trait<"ElementFormula">;
def Tenon_ReadsRows : Tenon_Trait<"ReadsRows">;
def Tenon_Contraction : Tenon_Trait<"Contraction">;
def Tenon_ReadsMemory : Tenon_Trait<"ReadsMemory">;
def Tenon_OfPlaces : Tenon_Trait<"OfPlaces">;
def Tenon_StopsGradient : Tenon_Trait<"StopsGradient">;
def Tenon_PutsResults : Tenon_Trait<"PutsResults">;
def Tenon_UpdatesParameters : Tenon_Trait<"UpdatesParameters">;
def Tenon_OfSchedule : Tenon_Trait<"OfSchedule">;
/// The body of an op's elementCost, for its extraClassDeclaration.
class Tenon_ElementCost<string cost> {
  string method = "unsigned elementCost() { return " # cost # "; }";
}
class Tenon_Op<string mnemonic, list<Trait> traits = []> : Op<Tenon_Dialect, mnemonic, !listconcat([Tenon_SizesOfEntry], traits)>;

def Tenon_Real : AnyTypeOf<[F64, F32, BF16, F16], "real element">;
/// A tensor with all its sizes: numbers, or a size map where one is symbolic.
class Tenon_TensorOf<list<Type> elements>
    : Type<And<[RankedTensorOf<elements>.predicate, CPred<"::tenon::hasSizes(::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
           RankedTensorOf<elements>.summary # " with numbers as sizes or one size map", "::mlir::RankedTensorType">;
def Tenon_Tensor : Tenon_TensorOf<[F64, F32, BF16, F16, I64, I32, I1]>;
/// As it lies in memory: remainders of parameters, too, which are bits, and with which nothing is computed.
def Tenon_StoredTensor : Tenon_TensorOf<[F64, F32, BF16, F16, I64, I32, I16, I1]>;
def Tenon_ParameterTensor : Tenon_TensorOf<[F64, F32, BF16, F16, I16]>;
def Tenon_RemainderTensor : Tenon_TensorOf<[I16]>;
def Tenon_RealTensor : Tenon_TensorOf<[F64, F32, BF16, F16]>;
def Tenon_IntTensor : Tenon_TensorOf<[I64, I32]>;
def Tenon_NumberTensor : Tenon_TensorOf<[F64, F32, BF16, F16, I64, I32]>;
def Tenon_BoolTensor : Tenon_TensorOf<[I1]>;
def Tenon_Scalar : AnyTypeOf<[F64, F32, BF16, F16, I64, I32, I1, Index], "scalar">;
def Tenon_StoredScalar : AnyTypeOf<[F64, F32, BF16, F16, I64, I32, I16, I1], "scalar">;

def Tenon_Natural : ConfinedAttr<I64Attr, [IntNonNegative]>;
/// A number of 32 bits in the counter of the random numbers.
def Tenon_Site : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<4294967295>]>;

#endif
