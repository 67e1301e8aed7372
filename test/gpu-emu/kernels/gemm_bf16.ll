; C = A B in bf16 with sums of f32: A is m x k, B is k x n, row by row; n and k are multiples of 8. A block of 64 threads makes 32 x 16
; elements, a warp 16 of the rows. Tiles come by cp.async into two stages; what lies outside of the matrices is filled with zeros.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@tiles = external addrspace(3) global [0 x i8], align 16 ; two stages of A (32 x 16) and of B (16 x 16): 3072 bytes

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32 immarg)
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)

; The thread's chunk of 8 elements of each tile of step `step`.
define internal void @issue(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %m, i32 %n, i32 %k, i32 %row0, i32 %column0, i32 %tid, i32 %step) {
  %stage = and i32 %step, 1
  %k0 = shl i32 %step, 4
  %row = lshr i32 %tid, 1
  %half = and i32 %tid, 1
  %half8 = shl i32 %half, 3
  %inrow = shl i32 %row, 5
  %inchunk = shl i32 %half, 4
  %intile = or i32 %inrow, %inchunk
  ; A
  %ar = add i32 %row0, %row
  %ak = add i32 %k0, %half8
  %arin = icmp ult i32 %ar, %m
  %akin = icmp ult i32 %ak, %k
  %ain = and i1 %arin, %akin
  %abytes = select i1 %ain, i32 16, i32 0
  %arow = mul i32 %ar, %k
  %aat = add i32 %arow, %ak
  %asafe = select i1 %ain, i32 %aat, i32 0
  %a64 = sext i32 %asafe to i64
  %ap = getelementptr bfloat, ptr addrspace(1) %a, i64 %a64
  %astage = mul i32 %stage, 1024
  %ato = add i32 %astage, %intile
  %as = getelementptr i8, ptr addrspace(3) @tiles, i32 %ato
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %as, ptr addrspace(1) %ap, i32 %abytes)
  %ofb = icmp ult i32 %tid, 32
  br i1 %ofb, label %copyb, label %done

copyb:
  %bk = add i32 %k0, %row
  %bc = add i32 %column0, %half8
  %bkin = icmp ult i32 %bk, %k
  %bcin = icmp ult i32 %bc, %n
  %bin = and i1 %bkin, %bcin
  %bbytes = select i1 %bin, i32 16, i32 0
  %brow = mul i32 %bk, %n
  %bat = add i32 %brow, %bc
  %bsafe = select i1 %bin, i32 %bat, i32 0
  %b64 = sext i32 %bsafe to i64
  %bp = getelementptr bfloat, ptr addrspace(1) %b, i64 %b64
  %bstage = mul i32 %stage, 512
  %bto0 = add i32 %bstage, %intile
  %bto = add i32 %bto0, 2048
  %bs = getelementptr i8, ptr addrspace(3) @tiles, i32 %bto
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %bs, ptr addrspace(1) %bp, i32 %bbytes)
  br label %done

done:
  ret void
}

define internal void @put(ptr addrspace(1) %c, i32 %m, i32 %n, i32 %row, i32 %column, float %one, float %two) {
  %rin = icmp ult i32 %row, %m
  %cin = icmp ult i32 %column, %n
  %in = and i1 %rin, %cin
  br i1 %in, label %store, label %done

store:
  %start = mul i32 %row, %n
  %at = add i32 %start, %column
  %at64 = sext i32 %at to i64
  %p = getelementptr float, ptr addrspace(1) %c, i64 %at64
  %v1 = insertelement <2 x float> poison, float %one, i32 0
  %v2 = insertelement <2 x float> %v1, float %two, i32 1
  store <2 x float> %v2, ptr addrspace(1) %p, align 8
  br label %done

done:
  ret void
}

define ptx_kernel void @gemm_bf16(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k) "nvvm.reqntid"="64" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %row0 = shl i32 %by, 5
  %column0 = shl i32 %bx, 4
  %warp = lshr i32 %tid, 5
  %lane = and i32 %tid, 31
  %k15 = add i32 %k, 15
  %steps = lshr i32 %k15, 4
  ; Both operands: lane % 16 is the row, lane / 16 the half of it.
  %lrow = and i32 %lane, 15
  %lhalf = lshr i32 %lane, 4
  %lr = shl i32 %lrow, 5
  %lh = shl i32 %lhalf, 4
  %b_in = or i32 %lr, %lh
  %w = shl i32 %warp, 9
  %a_in = add i32 %w, %b_in
  call void @issue(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %m, i32 %n, i32 %k, i32 %row0, i32 %column0, i32 %tid, i32 0)
  call void @llvm.nvvm.cp.async.commit.group()
  br label %loop

loop:
  %step = phi i32 [ 0, %entry ], [ %next, %multiply ]
  %c0 = phi float [ 0.0, %entry ], [ %d0, %multiply ]
  %c1 = phi float [ 0.0, %entry ], [ %d1, %multiply ]
  %c2 = phi float [ 0.0, %entry ], [ %d2, %multiply ]
  %c3 = phi float [ 0.0, %entry ], [ %d3, %multiply ]
  %c4 = phi float [ 0.0, %entry ], [ %d4, %multiply ]
  %c5 = phi float [ 0.0, %entry ], [ %d5, %multiply ]
  %c6 = phi float [ 0.0, %entry ], [ %d6, %multiply ]
  %c7 = phi float [ 0.0, %entry ], [ %d7, %multiply ]
  %next = add i32 %step, 1
  %more = icmp ult i32 %next, %steps
  br i1 %more, label %ahead, label %arrived

ahead:
  call void @issue(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %m, i32 %n, i32 %k, i32 %row0, i32 %column0, i32 %tid, i32 %next)
  br label %arrived

arrived: ; the newest group is that of the next step, empty in the last one
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %multiply

multiply:
  %stage = and i32 %step, 1
  %as = mul i32 %stage, 1024
  %a_at = add i32 %as, %a_in
  %a_p = getelementptr i8, ptr addrspace(3) @tiles, i32 %a_at
  %af = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %a_p)
  %bs = mul i32 %stage, 512
  %b_at0 = add i32 %bs, %b_in
  %b_at = add i32 %b_at0, 2048
  %b_p = getelementptr i8, ptr addrspace(3) @tiles, i32 %b_at
  %bf = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %b_p)
  %a0 = extractvalue { i32, i32, i32, i32 } %af, 0
  %a1 = extractvalue { i32, i32, i32, i32 } %af, 1
  %a2 = extractvalue { i32, i32, i32, i32 } %af, 2
  %a3 = extractvalue { i32, i32, i32, i32 } %af, 3
  %b0 = extractvalue { i32, i32, i32, i32 } %bf, 0
  %b1 = extractvalue { i32, i32, i32, i32 } %bf, 1
  %b2 = extractvalue { i32, i32, i32, i32 } %bf, 2
  %b3 = extractvalue { i32, i32, i32, i32 } %bf, 3
  %left = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float %c0, float %c1, float %c2, float %c3)
  %right = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b2, i32 %b3, float %c4, float %c5, float %c6, float %c7)
  %d0 = extractvalue { float, float, float, float } %left, 0
  %d1 = extractvalue { float, float, float, float } %left, 1
  %d2 = extractvalue { float, float, float, float } %left, 2
  %d3 = extractvalue { float, float, float, float } %left, 3
  %d4 = extractvalue { float, float, float, float } %right, 0
  %d5 = extractvalue { float, float, float, float } %right, 1
  %d6 = extractvalue { float, float, float, float } %right, 2
  %d7 = extractvalue { float, float, float, float } %right, 3
  ; The stage that was read is the next but one's.
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %more, label %loop, label %store

store:
  %group = lshr i32 %lane, 2
  %quad = and i32 %lane, 3
  %wrow = shl i32 %warp, 4
  %r0 = add i32 %row0, %wrow
  %row = add i32 %r0, %group
  %row8 = add i32 %row, 8
  %quad2 = shl i32 %quad, 1
  %column = add i32 %column0, %quad2
  %column8 = add i32 %column, 8
  call void @put(ptr addrspace(1) %c, i32 %m, i32 %n, i32 %row, i32 %column, float %d0, float %d1)
  call void @put(ptr addrspace(1) %c, i32 %m, i32 %n, i32 %row8, i32 %column, float %d2, float %d3)
  call void @put(ptr addrspace(1) %c, i32 %m, i32 %n, i32 %row, i32 %column8, float %d4, float %d5)
  call void @put(ptr addrspace(1) %c, i32 %m, i32 %n, i32 %row8, i32 %column8, float %d6, float %d7)
  ret void
}
