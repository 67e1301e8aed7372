; Warp 0 brings pieces of 32 numbers by bulk copies into a ring of two stages; warp 1 adds them up, a lane a column. `full` waits for the
; bytes, `empty` for the readers.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@stages = internal addrspace(3) global [64 x float] undef, align 16
@full = internal addrspace(3) global [2 x i64] undef, align 8
@empty = internal addrspace(3) global [2 x i64] undef, align 8

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3), ptr addrspace(3), ptr addrspace(1), i32, i64, i1 immarg)
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()

define internal void @wait(ptr addrspace(3) %barrier, i32 %parity) {
  br label %again

again:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) %barrier, i32 %parity)
  br i1 %done, label %out, label %again

out:
  ret void
}

define ptx_kernel void @ring(ptr addrspace(1) %x, ptr addrspace(1) %sums, i32 %pieces) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %one = icmp eq i32 %tid, 0
  br i1 %one, label %init, label %ready

init:
  %full1 = getelementptr i64, ptr addrspace(3) @full, i32 1
  %empty1 = getelementptr i64, ptr addrspace(3) @empty, i32 1
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %full1, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @empty, i32 32)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %empty1, i32 32)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  br label %ready

ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %reader = icmp uge i32 %tid, 32
  br i1 %reader, label %read, label %maybe

maybe:
  br i1 %one, label %bring, label %done

bring: ; the first wait for an empty stage is for the phase before the first
  %i = phi i32 [ 0, %maybe ], [ %i1, %bring ]
  %s = and i32 %i, 1
  %round = lshr i32 %i, 1
  %even = and i32 %round, 1
  %parity = xor i32 %even, 1
  %e = getelementptr i64, ptr addrspace(3) @empty, i32 %s
  %f = getelementptr i64, ptr addrspace(3) @full, i32 %s
  call void @wait(ptr addrspace(3) %e, i32 %parity)
  %t = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %f, i32 128)
  %to0 = shl i32 %s, 5
  %to = getelementptr float, ptr addrspace(3) @stages, i32 %to0
  %from0 = shl i32 %i, 5
  %from = getelementptr float, ptr addrspace(1) %x, i32 %from0
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) %to, ptr addrspace(3) %f, ptr addrspace(1) %from, i32 128, i64 0, i1 false)
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %pieces
  br i1 %more, label %bring, label %done

read:
  %lane = and i32 %tid, 31
  br label %loop

loop:
  %j = phi i32 [ 0, %read ], [ %j1, %loop ]
  %sum = phi float [ 0.0, %read ], [ %new, %loop ]
  %rs = and i32 %j, 1
  %rround = lshr i32 %j, 1
  %rparity = and i32 %rround, 1
  %rf = getelementptr i64, ptr addrspace(3) @full, i32 %rs
  %re = getelementptr i64, ptr addrspace(3) @empty, i32 %rs
  call void @wait(ptr addrspace(3) %rf, i32 %rparity)
  %at0 = shl i32 %rs, 5
  %at1 = add i32 %at0, %lane
  %at = getelementptr float, ptr addrspace(3) @stages, i32 %at1
  %v = load float, ptr addrspace(3) %at, align 4
  %new = fadd float %sum, %v
  %rt = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %re)
  %j1 = add i32 %j, 1
  %again = icmp ult i32 %j1, %pieces
  br i1 %again, label %loop, label %store

store:
  %o = getelementptr float, ptr addrspace(1) %sums, i32 %lane
  store float %new, ptr addrspace(1) %o, align 4
  br label %done

done:
  ret void
}
