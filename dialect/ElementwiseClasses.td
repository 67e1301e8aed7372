// What elementwise ops of one operand are made of, for the families that have some.
#ifndef TENON_ELEMENTWISE_CLASSES_TD
#define TENON_ELEMENTWISE_CLASSES_TD
include "TenonDialect.td"

class Tenon_Elementwise<string mnemonic, list<Trait> traits = [], int cost = 1>
    : Tenon_Op<mnemonic, !listconcat([Pure, Tenon_ElementwiseTrait, DeclareOpInterfaceMethods<ElementOpInterface>,
                                      DeclareOpInterfaceMethods<DifferentiableOpInterface>], traits)> {
  let extraClassDeclaration = Tenon_ElementCost<!cast<string>(cost)>.method;
}

class Tenon_Unary<string mnemonic, string formula, string gradient, string source, TypeConstraint type = Tenon_RealTensor,
                  string element = "f32", int cost = 1, list<Trait> traits = [Tenon_ElementFormula]>
    : Tenon_Elementwise<mnemonic, !listconcat([SameOperandsAndResultType], traits), cost> {
  let summary = "elementwise " # formula;
  let description = "Formula: `y = " # formula # "`.\n\n| operand | shape | dtype |\n|---|---|---|\n| x | any | as y |\n\n"
    # "Constraints: C1 y has the type of x.\n\nGradient: " # gradient # ".\n\nSource: " # source
    # ".\n\nExample:\n```mlir\n%y = tenon." # mnemonic # " %x : tensor<4x8x" # element # ">\n```\n";
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
#endif
