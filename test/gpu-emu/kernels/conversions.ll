; Conversions and approximations, each of one number per thread; results as bits.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare <2 x half> @llvm.nvvm.ff2f16x2.rn(float, float)
declare i32 @llvm.nvvm.f2tf32.rna(float)
declare float @llvm.nvvm.ex2.approx.f32(float)
declare float @llvm.nvvm.lg2.approx.f(float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.nvvm.rcp.approx.ftz.f(float)
declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)
declare half @llvm.fma.f16(half, half, half)

define ptx_kernel void @conversions(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %xp = getelementptr float, ptr addrspace(1) %x, i32 %tid
  %v = load float, ptr addrspace(1) %xp, align 4
  %at = mul i32 %tid, 6
  ; f32 to bf16 and f16, by the language and by the instructions for pairs
  %b = fptrunc float %v to bfloat
  %bb = bitcast bfloat %b to i16
  %b32 = zext i16 %bb to i32
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %at
  store i32 %b32, ptr addrspace(1) %p0, align 4
  %h = fptrunc float %v to half
  %hb = bitcast half %h to i16
  %h32 = zext i16 %hb to i32
  %a1 = add i32 %at, 1
  %p1 = getelementptr i32, ptr addrspace(1) %d, i32 %a1
  store i32 %h32, ptr addrspace(1) %p1, align 4
  %h2 = call <2 x half> @llvm.nvvm.ff2f16x2.rn(float %v, float 1.0)
  %h2b = bitcast <2 x half> %h2 to i32
  %a2 = add i32 %at, 2
  %p2 = getelementptr i32, ptr addrspace(1) %d, i32 %a2
  store i32 %h2b, ptr addrspace(1) %p2, align 4
  %t = call i32 @llvm.nvvm.f2tf32.rna(float %v)
  %a3 = add i32 %at, 3
  %p3 = getelementptr i32, ptr addrspace(1) %d, i32 %a3
  store i32 %t, ptr addrspace(1) %p3, align 4
  ; back: both are exact in f32
  %bf = fpext bfloat %b to float
  %bfb = bitcast float %bf to i32
  %a4 = add i32 %at, 4
  %p4 = getelementptr i32, ptr addrspace(1) %d, i32 %a4
  store i32 %bfb, ptr addrspace(1) %p4, align 4
  %hf = fpext half %h to float
  %hfb = bitcast float %hf to i32
  %a5 = add i32 %at, 5
  %p5 = getelementptr i32, ptr addrspace(1) %d, i32 %a5
  store i32 %hfb, ptr addrspace(1) %p5, align 4
  ret void
}

; 2^x, log2 |x|, 1 / sqrt |x|, 1 / x; x rounded to bf16 squared plus one, in bf16; the same in f16.
define ptx_kernel void @approximations(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %xp = getelementptr float, ptr addrspace(1) %x, i32 %tid
  %v = load float, ptr addrspace(1) %xp, align 4
  %at = mul i32 %tid, 6
  %negative = fcmp olt float %v, 0.0
  %minus = fneg float %v
  %abs = select i1 %negative, float %minus, float %v
  %e = call float @llvm.nvvm.ex2.approx.f32(float %v)
  %p0 = getelementptr float, ptr addrspace(1) %d, i32 %at
  store float %e, ptr addrspace(1) %p0, align 4
  %l = call float @llvm.nvvm.lg2.approx.f(float %abs)
  %a1 = add i32 %at, 1
  %p1 = getelementptr float, ptr addrspace(1) %d, i32 %a1
  store float %l, ptr addrspace(1) %p1, align 4
  %r = call float @llvm.nvvm.rsqrt.approx.f(float %abs)
  %a2 = add i32 %at, 2
  %p2 = getelementptr float, ptr addrspace(1) %d, i32 %a2
  store float %r, ptr addrspace(1) %p2, align 4
  %c = call float @llvm.nvvm.rcp.approx.ftz.f(float %v)
  %a3 = add i32 %at, 3
  %p3 = getelementptr float, ptr addrspace(1) %d, i32 %a3
  store float %c, ptr addrspace(1) %p3, align 4
  %b = fptrunc float %v to bfloat
  %bs = call bfloat @llvm.fma.bf16(bfloat %b, bfloat %b, bfloat 1.0)
  %bf = fpext bfloat %bs to float
  %a4 = add i32 %at, 4
  %p4 = getelementptr float, ptr addrspace(1) %d, i32 %a4
  store float %bf, ptr addrspace(1) %p4, align 4
  %h = fptrunc float %v to half
  %hs = call half @llvm.fma.f16(half %h, half %h, half 1.0)
  %hf = fpext half %hs to float
  %a5 = add i32 %at, 5
  %p5 = getelementptr float, ptr addrspace(1) %d, i32 %a5
  store float %hf, ptr addrspace(1) %p5, align 4
  ret void
}
