// Ops of a dialect that nobody in the compiler knows: elementwise ones, and one with a kernel of its own.
#ifndef DEMO_OPS_TD
#define DEMO_OPS_TD
include "TenonDialect.td"

def Demo_Dialect : Dialect {
  let name = "demo";
  let cppNamespace = "::demo";
  let dependentDialects = ["::tenon::TenonDialect"];
}

def Demo_SoftsignOp : Op<Demo_Dialect, "softsign", [Pure, SameOperandsAndResultType, Tenon_ElementwiseTrait, Tenon_ElementFormula,
                                                    DeclareOpInterfaceMethods<ElementOpInterface>,
                                                    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "x / (1 + |x|)";
  let arguments = (ins Tenon_RealTensor:$x);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
  let extraClassDeclaration = Tenon_ElementCost<"5">.method;
}

class Demo_UnaryOp<string mnemonic, list<Trait> traits = []>
    : Op<Demo_Dialect, mnemonic, !listconcat([Pure, SameOperandsAndResultType, Tenon_ElementwiseTrait,
                                              DeclareOpInterfaceMethods<ElementOpInterface>], traits)> {
  let arguments = (ins Tenon_RealTensor:$x);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
/// Elementwise, and no formula: it asks where its elements stand.
def Demo_TiltOp : Demo_UnaryOp<"tilt"> {
  let summary = "y[i, ..] = x[i, ..] if i is even, else 0";
  let hasCanonicalizeMethod = 1;
}
/// No formula either, for nobody knows its gradient; but some rows of it may be computed alone.
def Demo_HalvesOp : Demo_UnaryOp<"halves", [RowOpInterface]> { let summary = "x rounded to halves"; }

def Demo_MirrorOp : Op<Demo_Dialect, "mirror", [Pure, SameOperandsAndResultType, Tenon_ReadsMemory,
                                                DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                                DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain"]>]> {
  let summary = "y[i, j] = x[i, D - 1 - j]";
  let arguments = (ins Tenon_RealTensor:$x);
  let results = (outs Tenon_RealTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
#endif
