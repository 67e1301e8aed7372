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
    Tensors are builtin ranked tensors. A size that depends on a symbolic dim of the entry is `?` in the shape, and the type then carries
    the sizes as an affine map over the dims of the entry: `tensor<?x768xf32, affine_map<(d0) -> (d0 + 150, 768)>>`. Equal types
    have equal sizes, so no op ever asks for a size at run time.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
  let hasConstantMaterializer = 1;
}

class Tenon_Op<string mnemonic, list<Trait> traits = []> : Op<Tenon_Dialect, mnemonic, traits>;

def Tenon_Real : AnyTypeOf<[F64, F32, BF16, F16], "real element">;
def Tenon_Tensor : RankedTensorOf<[F64, F32, BF16, F16, I64, I32, I1]>;
def Tenon_RealTensor : RankedTensorOf<[F64, F32, BF16, F16]>;
def Tenon_IntTensor : RankedTensorOf<[I64, I32]>;
def Tenon_BoolTensor : RankedTensorOf<[I1]>;
def Tenon_Scalar : AnyTypeOf<[F64, F32, BF16, F16, I64, I32, I1, Index], "scalar">;

#endif
