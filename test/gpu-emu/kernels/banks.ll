; A number per thread goes through shared memory: 32 words apart, all in one bank, then 33 apart, then four at a time.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@memory = internal addrspace(3) global [1056 x i32] undef, align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @banks(ptr addrspace(1) noalias %y) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %one = mul i32 %tid, 32
  %apart = getelementptr i32, ptr addrspace(3) @memory, i32 %one
  store i32 %tid, ptr addrspace(3) %apart, align 4
  %own = load i32, ptr addrspace(3) %apart, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = mul i32 %tid, 33
  %turned = getelementptr i32, ptr addrspace(3) @memory, i32 %next
  store i32 %own, ptr addrspace(3) %turned, align 4
  %back = load i32, ptr addrspace(3) %turned, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %four = mul i32 %tid, 4
  %wide = getelementptr i32, ptr addrspace(3) @memory, i32 %four
  %v0 = insertelement <4 x i32> undef, i32 %back, i32 0
  %v = shufflevector <4 x i32> %v0, <4 x i32> undef, <4 x i32> zeroinitializer
  store <4 x i32> %v, ptr addrspace(3) %wide, align 16
  %to = getelementptr i32, ptr addrspace(1) %y, i32 %tid
  store i32 %back, ptr addrspace(1) %to, align 4
  ret void
}
