; One warp, one instruction: registers from buffers with the values of each lane side by side, results into one. For the layouts of
; registers, whose reference are the strides in launches.py.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@rows = internal addrspace(3) global [256 x i16] undef, align 16

declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)

define ptx_kernel void @mma_bf16_16(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 4
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load i32, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load i32, ptr addrspace(1) %ap1, align 4
  %ai2 = add i32 %a0, 2
  %ap2 = getelementptr i32, ptr addrspace(1) %a, i32 %ai2
  %av2 = load i32, ptr addrspace(1) %ap2, align 4
  %ai3 = add i32 %a0, 3
  %ap3 = getelementptr i32, ptr addrspace(1) %a, i32 %ai3
  %av3 = load i32, ptr addrspace(1) %ap3, align 4
  %b0 = mul i32 %lane, 2
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load i32, ptr addrspace(1) %bp0, align 4
  %bi1 = add i32 %b0, 1
  %bp1 = getelementptr i32, ptr addrspace(1) %b, i32 %bi1
  %bv1 = load i32, ptr addrspace(1) %bp1, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %av0, i32 %av1, i32 %av2, i32 %av3, i32 %bv0, i32 %bv1, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32, i32, i32, float, float, float, float)

define ptx_kernel void @mma_bf16_8(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 2
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load i32, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load i32, ptr addrspace(1) %ap1, align 4
  %b0 = mul i32 %lane, 1
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load i32, ptr addrspace(1) %bp0, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32 %av0, i32 %av1, i32 %bv0, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)

define ptx_kernel void @mma_f16_16(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 4
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load <2 x half>, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load <2 x half>, ptr addrspace(1) %ap1, align 4
  %ai2 = add i32 %a0, 2
  %ap2 = getelementptr i32, ptr addrspace(1) %a, i32 %ai2
  %av2 = load <2 x half>, ptr addrspace(1) %ap2, align 4
  %ai3 = add i32 %a0, 3
  %ap3 = getelementptr i32, ptr addrspace(1) %a, i32 %ai3
  %av3 = load <2 x half>, ptr addrspace(1) %ap3, align 4
  %b0 = mul i32 %lane, 2
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load <2 x half>, ptr addrspace(1) %bp0, align 4
  %bi1 = add i32 %b0, 1
  %bp1 = getelementptr i32, ptr addrspace(1) %b, i32 %bi1
  %bv1 = load <2 x half>, ptr addrspace(1) %bp1, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %av0, <2 x half> %av1, <2 x half> %av2, <2 x half> %av3, <2 x half> %bv0, <2 x half> %bv1, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, float, float, float, float)

define ptx_kernel void @mma_f16_8(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 2
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load <2 x half>, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load <2 x half>, ptr addrspace(1) %ap1, align 4
  %b0 = mul i32 %lane, 1
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load <2 x half>, ptr addrspace(1) %bp0, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %av0, <2 x half> %av1, <2 x half> %bv0, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)

define ptx_kernel void @mma_tf32_8(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 4
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load i32, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load i32, ptr addrspace(1) %ap1, align 4
  %ai2 = add i32 %a0, 2
  %ap2 = getelementptr i32, ptr addrspace(1) %a, i32 %ai2
  %av2 = load i32, ptr addrspace(1) %ap2, align 4
  %ai3 = add i32 %a0, 3
  %ap3 = getelementptr i32, ptr addrspace(1) %a, i32 %ai3
  %av3 = load i32, ptr addrspace(1) %ap3, align 4
  %b0 = mul i32 %lane, 2
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load i32, ptr addrspace(1) %bp0, align 4
  %bi1 = add i32 %b0, 1
  %bp1 = getelementptr i32, ptr addrspace(1) %b, i32 %bi1
  %bv1 = load i32, ptr addrspace(1) %bp1, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %av0, i32 %av1, i32 %av2, i32 %av3, i32 %bv0, i32 %bv1, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare { float, float, float, float } @llvm.nvvm.mma.m16n8k4.row.col.tf32(i32, i32, i32, float, float, float, float)

define ptx_kernel void @mma_tf32_4(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a0 = mul i32 %lane, 2
  %ai0 = add i32 %a0, 0
  %ap0 = getelementptr i32, ptr addrspace(1) %a, i32 %ai0
  %av0 = load i32, ptr addrspace(1) %ap0, align 4
  %ai1 = add i32 %a0, 1
  %ap1 = getelementptr i32, ptr addrspace(1) %a, i32 %ai1
  %av1 = load i32, ptr addrspace(1) %ap1, align 4
  %b0 = mul i32 %lane, 1
  %bi0 = add i32 %b0, 0
  %bp0 = getelementptr i32, ptr addrspace(1) %b, i32 %bi0
  %bv0 = load i32, ptr addrspace(1) %bp0, align 4
  %c0 = mul i32 %lane, 4
  %ci0 = add i32 %c0, 0
  %cp0 = getelementptr i32, ptr addrspace(1) %c, i32 %ci0
  %cv0 = load float, ptr addrspace(1) %cp0, align 4
  %ci1 = add i32 %c0, 1
  %cp1 = getelementptr i32, ptr addrspace(1) %c, i32 %ci1
  %cv1 = load float, ptr addrspace(1) %cp1, align 4
  %ci2 = add i32 %c0, 2
  %cp2 = getelementptr i32, ptr addrspace(1) %c, i32 %ci2
  %cv2 = load float, ptr addrspace(1) %cp2, align 4
  %ci3 = add i32 %c0, 3
  %cp3 = getelementptr i32, ptr addrspace(1) %c, i32 %ci3
  %cv3 = load float, ptr addrspace(1) %cp3, align 4
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k4.row.col.tf32(i32 %av0, i32 %av1, i32 %bv0, float %cv0, float %cv1, float %cv2, float %cv3)
  %r0 = extractvalue { float, float, float, float } %r, 0
  %dp0 = getelementptr float, ptr addrspace(1) %d, i32 %ci0
  store float %r0, ptr addrspace(1) %dp0, align 4
  %r1 = extractvalue { float, float, float, float } %r, 1
  %dp1 = getelementptr float, ptr addrspace(1) %d, i32 %ci1
  store float %r1, ptr addrspace(1) %dp1, align 4
  %r2 = extractvalue { float, float, float, float } %r, 2
  %dp2 = getelementptr float, ptr addrspace(1) %d, i32 %ci2
  store float %r2, ptr addrspace(1) %dp2, align 4
  %r3 = extractvalue { float, float, float, float } %r, 3
  %dp3 = getelementptr float, ptr addrspace(1) %d, i32 %ci3
  store float %r3, ptr addrspace(1) %dp3, align 4
  ret void
}

declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_1(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 1
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r, ptr addrspace(1) %p0, align 4
  ret void
}

declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_1_trans(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 1
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r, ptr addrspace(1) %p0, align 4
  ret void
}

declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_2(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 2
  %r0 = extractvalue { i32, i32 } %r, 0
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r0, ptr addrspace(1) %p0, align 4
  %r1 = extractvalue { i32, i32 } %r, 1
  %i1 = add i32 %at, 1
  %p1 = getelementptr i32, ptr addrspace(1) %d, i32 %i1
  store i32 %r1, ptr addrspace(1) %p1, align 4
  ret void
}

declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_2_trans(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 2
  %r0 = extractvalue { i32, i32 } %r, 0
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r0, ptr addrspace(1) %p0, align 4
  %r1 = extractvalue { i32, i32 } %r, 1
  %i1 = add i32 %at, 1
  %p1 = getelementptr i32, ptr addrspace(1) %d, i32 %i1
  store i32 %r1, ptr addrspace(1) %p1, align 4
  ret void
}

declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_4(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 4
  %r0 = extractvalue { i32, i32, i32, i32 } %r, 0
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r0, ptr addrspace(1) %p0, align 4
  %r1 = extractvalue { i32, i32, i32, i32 } %r, 1
  %i1 = add i32 %at, 1
  %p1 = getelementptr i32, ptr addrspace(1) %d, i32 %i1
  store i32 %r1, ptr addrspace(1) %p1, align 4
  %r2 = extractvalue { i32, i32, i32, i32 } %r, 2
  %i2 = add i32 %at, 2
  %p2 = getelementptr i32, ptr addrspace(1) %d, i32 %i2
  store i32 %r2, ptr addrspace(1) %p2, align 4
  %r3 = extractvalue { i32, i32, i32, i32 } %r, 3
  %i3 = add i32 %at, 3
  %p3 = getelementptr i32, ptr addrspace(1) %d, i32 %i3
  store i32 %r3, ptr addrspace(1) %p3, align 4
  ret void
}

declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))

define ptx_kernel void @ldmatrix_4_trans(ptr addrspace(1) %x, ptr addrspace(1) %d) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %x, i32 %lane
  %v = load <8 x i16>, ptr addrspace(1) %from, align 16
  %row = getelementptr <8 x i16>, ptr addrspace(3) @rows, i32 %lane
  store <8 x i16> %v, ptr addrspace(3) %row, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %row)
  %at = mul i32 %lane, 4
  %r0 = extractvalue { i32, i32, i32, i32 } %r, 0
  %i0 = add i32 %at, 0
  %p0 = getelementptr i32, ptr addrspace(1) %d, i32 %i0
  store i32 %r0, ptr addrspace(1) %p0, align 4
  %r1 = extractvalue { i32, i32, i32, i32 } %r, 1
  %i1 = add i32 %at, 1
  %p1 = getelementptr i32, ptr addrspace(1) %d, i32 %i1
  store i32 %r1, ptr addrspace(1) %p1, align 4
  %r2 = extractvalue { i32, i32, i32, i32 } %r, 2
  %i2 = add i32 %at, 2
  %p2 = getelementptr i32, ptr addrspace(1) %d, i32 %i2
  store i32 %r2, ptr addrspace(1) %p2, align 4
  %r3 = extractvalue { i32, i32, i32, i32 } %r, 3
  %i3 = add i32 %at, 3
  %p3 = getelementptr i32, ptr addrspace(1) %d, i32 %i3
  store i32 %r3, ptr addrspace(1) %p3, align 4
  ret void
}
