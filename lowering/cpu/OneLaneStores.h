// A correction of what LLVM 22 makes of some stores on x86.
#pragma once

namespace llvm {
class Module;
}

namespace tenon {

/// Masked stores whose mask is known to be true for one lane alone become stores of that element. LLVM 22 does the same when it
/// selects instructions, but where the vector was truncated just before, it stores the untruncated element: of 16 bits, 4 bytes
/// are written (X86ISelLowering, reduceMaskedStoreToScalarStore).
void storeSingleLanes(llvm::Module &module);

} // namespace tenon
