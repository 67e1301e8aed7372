; Sums of pieces of 1024 numbers, one per block: by registers within a warp, by shared memory between warps.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@partial = internal addrspace(3) global [32 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @block_sum(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %sums, i32 %count) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %base = mul i32 %block, 1024
  br label %loop

loop:
  %i = phi i32 [ %tid, %entry ], [ %next, %more ]
  %sum = phi float [ 0.0, %entry ], [ %new, %more ]
  %inside = icmp ult i32 %i, 1024
  br i1 %inside, label %body, label %reduce

body:
  %at = add i32 %base, %i
  %valid = icmp ult i32 %at, %count
  br i1 %valid, label %add, label %more

add:
  %at64 = zext i32 %at to i64
  %p = getelementptr inbounds float, ptr addrspace(1) %x, i64 %at64
  %v = load float, ptr addrspace(1) %p, align 4
  %added = fadd float %sum, %v
  br label %more

more:
  %new = phi float [ %added, %add ], [ %sum, %body ]
  %next = add i32 %i, %threads
  br label %loop

reduce:
  %s16 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %sum, i32 16, i32 31)
  %r16 = fadd float %sum, %s16
  %s8 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %r16, i32 8, i32 31)
  %r8 = fadd float %r16, %s8
  %s4 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %r8, i32 4, i32 31)
  %r4 = fadd float %r8, %s4
  %s2 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %r4, i32 2, i32 31)
  %r2 = fadd float %r4, %s2
  %s1 = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %r2, i32 1, i32 31)
  %r1 = fadd float %r2, %s1
  %lane = and i32 %tid, 31
  %warp = lshr i32 %tid, 5
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %put, label %meet

put:
  %slot = getelementptr inbounds [32 x float], ptr addrspace(3) @partial, i32 0, i32 %warp
  store float %r1, ptr addrspace(3) %slot, align 4
  br label %meet

meet:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %one = icmp eq i32 %tid, 0
  br i1 %one, label %total, label %done

total:
  %warps = lshr i32 %threads, 5
  br label %gather

gather:
  %w = phi i32 [ 0, %total ], [ %w1, %gather ]
  %t = phi float [ 0.0, %total ], [ %t1, %gather ]
  %q = getelementptr inbounds [32 x float], ptr addrspace(3) @partial, i32 0, i32 %w
  %pv = load float, ptr addrspace(3) %q, align 4
  %t1 = fadd float %t, %pv
  %w1 = add i32 %w, 1
  %again = icmp ult i32 %w1, %warps
  br i1 %again, label %gather, label %store

store:
  %b64 = zext i32 %block to i64
  %o = getelementptr inbounds float, ptr addrspace(1) %sums, i64 %b64
  store float %t1, ptr addrspace(1) %o, align 4
  br label %done

done:
  ret void
}
