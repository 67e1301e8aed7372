// What an op of the kernel form needs to become code of a GPU.
#ifndef TENON_GPU_INTERFACES_TD
#define TENON_GPU_INTERFACES_TD
include "mlir/IR/OpBase.td"

def GpuKernelOpInterface : OpInterface<"GpuKernelOpInterface"> {
  let cppNamespace = "::tenon::gpu";
  let description = [{
    An op that GPUs have a kernel for. The dialect does not know its targets: the interface is attached from outside
    (Generators.cpp; an op of a plugin: in its own library, by an extension of its dialect).
  }];
  let methods = [
    InterfaceMethod<
      "Why there is no kernel for it as it is (its sizes, element types), or nothing.",
      "::std::optional<::std::string>", "refusal", (ins), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<
      "Whether its kernels read and write tensors whose rows lie apart (tenon.row_steps).",
      "bool", "takesRowSteps", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      "The tensors of 16 bits that tensor cores read by kRowBytes: worth rows that begin at multiples of these.",
      "::llvm::SmallVector<::mlir::Value>", "factors", (ins), "", [{ return {}; }]>,
    InterfaceMethod<
      "Whether its results are sums that threads write by kRowBytes where rows begin at multiples of these.",
      "bool", "storesSums", (ins), "", [{ return false; }]>,
    InterfaceMethod<
      "What is chosen for its launches, before memory is planned (tenon.chosen). Null: nothing.",
      "::mlir::DictionaryAttr", "choose", (ins "const ::tenon::gpu::Chip &":$chip), "", [{ return {}; }]>,
    InterfaceMethod<
      "Adds the launches of the op to the sequence: what they read and write, and the code of a thread. Reports its own errors "
      "at the op.",
      "::llvm::LogicalResult", "generate", (ins "::tenon::gpu::LaunchSequence &":$sequence)>];
}
#endif
