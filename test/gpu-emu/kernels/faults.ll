; One fault each, which checked mode must name. Blocks of 64 threads, a buffer of 64 numbers, a second argument n.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@tile = internal addrspace(3) global [64 x float] undef, align 16
@other = internal addrspace(3) global [64 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x i8], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.wait.all()

define internal ptr addrspace(3) @place(i32 %i) {
  %p = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %i
  ret ptr addrspace(3) %p
}

; Right: each thread stores, all meet, each reads its neighbour's.
define ptx_kernel void @right(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  store float 1.0, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %next = xor i32 %tid, 63
  %q = call ptr addrspace(3) @place(i32 %next)
  %v = load float, ptr addrspace(3) %q, align 4
  %o = getelementptr float, ptr addrspace(1) %x, i32 %tid
  store float %v, ptr addrspace(1) %o, align 4
  ret void
}

; Behind the variable lies a gap, and then another variable.
define ptx_kernel void @behind_shared(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = add i32 %tid, 1
  %p = call ptr addrspace(3) @place(i32 %i)
  store float 1.0, ptr addrspace(3) %p, align 4
  store float 1.0, ptr addrspace(3) @other, align 4
  ret void
}

define ptx_kernel void @behind_dynamic(ptr addrspace(1) %x, i32 %n) {
  %p = getelementptr i8, ptr addrspace(3) @dynamic, i32 64
  store float 1.0, ptr addrspace(3) %p, align 4
  ret void
}

define ptx_kernel void @before_buffer(ptr addrspace(1) %x, i32 %n) {
  %p = getelementptr float, ptr addrspace(1) %x, i32 -1
  %v = load float, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(1) %x, align 4
  ret void
}

define ptx_kernel void @no_buffer(ptr addrspace(1) %x, i32 %n) {
  %v = load float, ptr inttoptr (i64 4096 to ptr), align 4
  store float %v, ptr addrspace(1) %x, align 4
  ret void
}

define ptx_kernel void @misaligned(ptr addrspace(1) %x, i32 %n) {
  %p = getelementptr i8, ptr addrspace(1) %x, i32 4
  %v = load <2 x float>, ptr addrspace(1) %p, align 8
  store <2 x float> %v, ptr addrspace(1) %x, align 8
  ret void
}

define ptx_kernel void @uninitialised(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  %v = load float, ptr addrspace(3) %p, align 4
  ret void
}

; The two barriers have different numbers, so nobody waits for the other warp.
define ptx_kernel void @wrong_barrier(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %tid, 5
  %p = call ptr addrspace(3) @place(i32 %tid)
  store float 1.0, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %warp, i32 32)
  %next = xor i32 %tid, 32
  %q = call ptr addrspace(3) @place(i32 %next)
  store float 2.0, ptr addrspace(3) %q, align 4
  ret void
}

; Lanes of a warp are ordered by bar.warp.sync, warps are not.
define ptx_kernel void @within_warp(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  store float 1.0, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %next = xor i32 %tid, %n
  %q = call ptr addrspace(3) @place(i32 %next)
  %v = load float, ptr addrspace(3) %q, align 4
  ret void
}

; A shuffle exchanges values, and orders no memory.
define ptx_kernel void @by_shuffle(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  store float 1.0, ptr addrspace(3) %p, align 4
  %s = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float 1.0, i32 0, i32 31)
  %next = xor i32 %tid, 1
  %q = call ptr addrspace(3) @place(i32 %next)
  store float %s, ptr addrspace(3) %q, align 4
  ret void
}

; Threads of a block read what others write in global memory.
define ptx_kernel void @in_buffer(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = getelementptr float, ptr addrspace(1) %x, i32 %tid
  store float 1.0, ptr addrspace(1) %o, align 4
  %other = sub i32 63, %tid
  %p = getelementptr float, ptr addrspace(1) %x, i32 %other
  %v = load volatile float, ptr addrspace(1) %p, align 4
  ret void
}

; All arrive at a barrier, and none waits.
define ptx_kernel void @arrives_alone(ptr addrspace(1) %x, i32 %n) {
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 1, i32 64)
  ret void
}

; The second warp does not come to wait for the first.
define ptx_kernel void @awaited_by_none(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp ult i32 %tid, 32
  br i1 %first, label %arrive, label %end
arrive:
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 1, i32 64)
  br label %end
end:
  ret void
}

define ptx_kernel void @in_buffer_behind_barrier(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = getelementptr float, ptr addrspace(1) %x, i32 %tid
  store float 1.0, ptr addrspace(1) %o, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = sub i32 63, %tid
  %p = getelementptr float, ptr addrspace(1) %x, i32 %other
  %v = load volatile float, ptr addrspace(1) %p, align 4
  ret void
}

; Every block writes the same number.
define ptx_kernel void @blocks(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %o = getelementptr float, ptr addrspace(1) %x, i32 %tid
  store float 1.0, ptr addrspace(1) %o, align 4
  ret void
}

define ptx_kernel void @blocks_atomically(ptr addrspace(1) %x, i32 %n) {
  %v = atomicrmw add ptr addrspace(1) %x, i32 1 monotonic, align 4
  ret void
}

define ptx_kernel void @half_waits(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %tid, 40
  br i1 %low, label %wait, label %done

wait:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %done

done:
  ret void
}

define ptx_kernel void @divergent(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  br i1 %odd, label %one, label %two

one:
  %a = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float 1.0, i32 0, i32 31)
  br label %done

two:
  %b = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float 2.0, i32 0, i32 31)
  br label %done

done:
  ret void
}

define ptx_kernel void @two_barriers(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  br i1 %odd, label %one, label %two

one:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %done

two:
  store float 1.0, ptr addrspace(1) %x, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %done

done:
  ret void
}

define ptx_kernel void @absent_lane(ptr addrspace(1) %x, i32 %n) {
  %s = call float @llvm.nvvm.shfl.sync.idx.f32(i32 1, float 1.0, i32 0, i32 31)
  ret void
}

define ptx_kernel void @undefined_source(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %tid, 31
  %low = icmp ult i32 %lane, 16
  br i1 %low, label %some, label %done

some:
  %s = call float @llvm.nvvm.shfl.sync.idx.f32(i32 65535, float 1.0, i32 20, i32 31)
  br label %done

done:
  ret void
}

define ptx_kernel void @too_early(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %p, ptr addrspace(1) %x)
  %v = load float, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}

define ptx_kernel void @never_waits(ptr addrspace(1) %x, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = call ptr addrspace(3) @place(i32 %tid)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %p, ptr addrspace(1) %x)
  ret void
}

define ptx_kernel void @by_zero(ptr addrspace(1) %x, i32 %n) {
  %zero = sub i32 %n, 1
  %v = udiv i32 5, %zero
  store i32 %v, ptr addrspace(1) %x, align 4
  ret void
}

define ptx_kernel void @deep(ptr addrspace(1) %x, i32 %n) {
  %local = alloca [100000 x i8], align 8
  %i = mul i32 %n, 8
  %p = getelementptr i8, ptr %local, i32 %i
  store volatile i64 1, ptr %p, align 8
  ret void
}
