// f32 functions of which a straight line has few are inlined in vector code; of many, and wherever each is calls of libm, one function is shared. A model of 300 tanh
// took 20 s and 2.9 MB on the portable tier.
// RUN: tenon-opt %s --tenon-schedule-pipeline --tenon-emit-cpu=tier=x86-64-v3 | FileCheck %s --check-prefix=VECTORS
// RUN: tenon-opt %s --tenon-schedule-pipeline --tenon-emit-cpu=tier=portable | FileCheck %s --check-prefix=PORTABLE
// What is called is chosen before code is made, and stands in the schedule.
// RUN: tenon-opt %s --tenon-schedule-pipeline | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-LABEL: func.func @few
// CHOSEN-NOT: _calls
// CHOSEN-LABEL: func.func @many
// CHOSEN: portable = {form = "by_size", work = {{[0-9]+}} : i64}
// CHOSEN-SAME: "x86-64-v3" = {form = "by_size", tanh_calls = 1 : i64, work
// Code follows it: another choice is another code, and what a kernel does not have, or no number, is refused.
// DEFINE: %{with} = tenon-opt %s --tenon-schedule-pipeline | sed
// DEFINE: %{code} = tenon-opt --tenon-emit-cpu=tier=x86-64-v3
// RUN: %{with} 's/tanh_calls = 1/tanh_calls = 0/g' | %{code} | FileCheck %s --check-prefix=INLINED --implicit-check-not=@tn_tanh
// INLINED: @many
// RUN: %{with} '/@few/,/@many/ s/"x86-64-v3" = {/&exp_calls = 1 : i64, /' | %{code} | FileCheck %s --check-prefix=CALLED
// CALLED: llvm.func internal @tn_exp_f32_16(
// RUN: %{with} 's/tanh_calls = 1/tanh_calls = 2/g' | not %{code} 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: 'tenon.nest' op expects tanh_calls for x86-64-v3 from 0 to 1, got 2
// RUN: %{with} 's/tanh_calls = 1/exp_calls = 1/g' | not %{code} 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'tenon.nest' op expects of by_size for x86-64-v3 the number work or tanh_calls, got exp_calls
// VECTORS: llvm.func internal @tn_tanh_f32_16({{.*}}) -> vector<16xf32>
// VECTORS-NOT: @tn_exp
// VECTORS: @many
// PORTABLE-DAG: llvm.func internal @tn_tanh_f32_16({{.*}}) -> vector<16xf32>
// PORTABLE-DAG: llvm.func internal @tn_exp_f32_16({{.*}}) -> vector<16xf32>
// PORTABLE-NOT: llvm.func internal @tn_
#x = affine_map<(d0) -> (d0)>

func.func @few(%T: index, %x: tensor<?xf32, #x>) attributes {tenon.dims = ["T"], tenon.kind = "out", tenon.states = []} {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.exp %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @many(%T: index, %x: tensor<?xf32, #x>) attributes {tenon.dims = ["T"], tenon.kind = "out", tenon.states = []} {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b0 = math.tanh %a : f32
    %t1 = math.tanh %a : f32
    %b1 = arith.maximumf %b0, %t1 : f32
    %t2 = math.tanh %a : f32
    %b2 = arith.maximumf %b1, %t2 : f32
    %t3 = math.tanh %a : f32
    %b3 = arith.maximumf %b2, %t3 : f32
    %t4 = math.tanh %a : f32
    %b4 = arith.maximumf %b3, %t4 : f32
    %t5 = math.tanh %a : f32
    %b5 = arith.maximumf %b4, %t5 : f32
    %t6 = math.tanh %a : f32
    %b6 = arith.maximumf %b5, %t6 : f32
    %t7 = math.tanh %a : f32
    %b7 = arith.maximumf %b6, %t7 : f32
    %t8 = math.tanh %a : f32
    %b8 = arith.maximumf %b7, %t8 : f32
    %t9 = math.tanh %a : f32
    %b9 = arith.maximumf %b8, %t9 : f32
    %t10 = math.tanh %a : f32
    %b10 = arith.maximumf %b9, %t10 : f32
    %t11 = math.tanh %a : f32
    %b11 = arith.maximumf %b10, %t11 : f32
    %t12 = math.tanh %a : f32
    %b12 = arith.maximumf %b11, %t12 : f32
    %t13 = math.tanh %a : f32
    %b13 = arith.maximumf %b12, %t13 : f32
    %t14 = math.tanh %a : f32
    %b14 = arith.maximumf %b13, %t14 : f32
    %t15 = math.tanh %a : f32
    %b15 = arith.maximumf %b14, %t15 : f32
    %t16 = math.tanh %a : f32
    %b16 = arith.maximumf %b15, %t16 : f32
    tenon.put 0 [%i], %b16 : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}
