// What an op of the kernel form needs to become code of the CPU.
#ifndef TENON_CPU_INTERFACES_TD
#define TENON_CPU_INTERFACES_TD
include "mlir/IR/OpBase.td"

def CpuKernelOpInterface : OpInterface<"CpuKernelOpInterface"> {
  let cppNamespace = "::tenon::cpu";
  let description = [{
    An op that the CPU has a kernel for. The dialect does not know its targets: the interface is attached from outside
    (Generators.cpp; an op of a plugin: in its own library, by an extension of its dialect).
  }];
  let methods = [
    InterfaceMethod<
    "Whether its kernel reads and writes bf16 and f16 (ShortReals.h), too.",
    "bool", "readsShortReals", (ins), "", [{ return false; }]>,
    InterfaceMethod<
    "Whether its kernel multiplies pairs of bf16 where a tier has an instruction for that: then a program has these tiers.",
    "bool", "multipliesPairs", (ins), "", [{ return false; }]>,
    InterfaceMethod<
    "As KernelOpInterface::overwritable: in its code here more may be.",
    "::llvm::SmallVector<::mlir::Value>", "overwritable", (ins "unsigned":$result), "", [{
      return ::mlir::cast<::tenon::KernelOpInterface>($_op.getOperation()).overwritable(result);
    }]>,
    InterfaceMethod<
    "What is chosen for its code in a tier, before memory is planned (tenon.chosen). Null: nothing.",
    "::mlir::DictionaryAttr", "choose", (ins "::tenon::cpu::Tier":$tier), "", [{ return {}; }]>,
    InterfaceMethod<
    "Adds the kernels of the op to the sequence: what they read and write, and the code of a tile. Reports its own errors "
    "at the op.",
    "::llvm::LogicalResult", "generate", (ins "::tenon::cpu::KernelSequence &":$sequence)>];
}
#endif
