// Random numbers that are functions of (seed, step, site, depth, element): dropout, noise of draws.
#ifndef TENON_RANDOM_OPS_TD
#define TENON_RANDOM_OPS_TD
include "LayerOps.td"

def Tenon_DropoutOp : Tenon_LayerOp<"dropout", [Tenon_ElementwiseTrait, AllTypesMatch<["x", "y"]>,
                                                DeclareOpInterfaceMethods<RowOpInterface, ["buildFactor"]>]> {
  let summary = "zeroes elements at random and scales the rest";
  let description = [{
    Formula: `y = keep ? x / (1 - q) : 0`. q is `rate` rounded to 1/65536; keep where the 16 random bits of (seed, step, site,
    depth, logical index of the element) are at least 65536 q. Dimensions in `shared` count as index 0, so the mask is shared
    along them.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y | real, as y |
    | depth | index of the stack, optional | index |

    Constraints: C1 0 <= rate <= 1, y has the type of x; C2 site is a number of 32 bits; C3 shared are dimensions of x.

    Gradient: the same op on dy: same site, same bits.

    Source: Philox 4x32 (Salmon et al. 2011).

    Example:
    ```mlir
    %y = tenon.dropout %x rate 0.1 site 7 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$x, Optional<Index>:$depth, F64Attr:$rate, Tenon_Site:$site,
                   DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$shared);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$x (`depth` $depth^)? `rate` $rate `site` $site (`shared` $shared^)? attr-dict `:` type($x)";
  let hasFolder = 1;
  let extraClassDeclaration = Tenon_ElementCost<"30">.method;
}
def Tenon_GumbelOp : Tenon_Op<"gumbel", [Pure, Tenon_ElementwiseTrait, AllTypesMatch<["x", "y"]>,
                                         DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "adds noise whose largest sum stands where softmax draws";
  let description = [{
    Formula: `y = x - ln(-ln(u))`, u = (w div 512 + 1/2) / 2^23 with w the 32 random bits of (seed, step, site, depth, e). Of the
    element v of a row r of V elements, both row-major, e = 64 r ceil(V / 64) + v. u is a number of f32 between 0 and 1, so that
    f32 and f64 draw the same.

    | operand | shape | dtype |
    |---|---|---|
    | x | as y, at least one dimension | real, as y |
    | depth | index of the stack, optional | index |

    Constraints: C1 x has a dimension, y its type; C2 site is a number of 32 bits.

    Gradient: none; its largest elements are found by `tenon.argmax`, which has none.

    Source: Gumbel 1954; Maddison, Tarlow & Minka 2014, section 2 (argmax of x - ln(-ln(u)) is a draw from softmax(x)).

    Example:
    ```mlir
    %y = tenon.gumbel %x site 7 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tenon_RealTensor:$x, Optional<Index>:$depth, Tenon_Site:$site);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$x (`depth` $depth^)? `site` $site attr-dict `:` type($x)";
  let hasVerifier = 1;
  let extraClassDeclaration = Tenon_ElementCost<"60">.method;
}
#endif
