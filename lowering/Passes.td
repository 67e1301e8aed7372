// Passes over the tensor form and the kernel form. What they demand of their input has numbers: P1 .. for all passes, S1 .. for
// what targets check of the schedule form (tenon-schedule). Each stands at its refusal (tools/lint-messages.py).
#ifndef TENON_PASSES_TD
#define TENON_PASSES_TD
include "mlir/Pass/PassBase.td"

def Simplify : Pass<"tenon-simplify", "::mlir::func::FuncOp"> {
  let summary = "folds views, merges equal ops, drops what nobody reads";
  let description = [{
    Folds and brings into canonical form (dialect/Fold*.cpp: what is exact and an op's own affair), drops x + 0, contracts
    relative scores before they are gathered, moves parameter reads that do not depend on the depth out of stacks, merges equal
    ops (also before differentiation: shared projections) and removes dead ones. After differentiation a sum with a scatter_add
    becomes a scatter_add onto the other term, and a contraction of windows with zeros between their elements (a divisor of up to
    4) one for each remainder (WindowPhases.cpp). Transpositions go behind windows of one place and into the labels of
    contractions, and loops carry tensors as their bodies make them (TransposedReads.cpp).
    Terminates: every rewrite removes an op, moves one outwards or a transposition towards its readers, takes a divisor away, or
    is a canonical form, whose files say why they end.
  }];
  let options = [Option<"afterDifferentiation", "after-differentiation", "bool", "false",
                        "stop_gradient has done its work and is dropped">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def Differentiate : Pass<"tenon-differentiate", "::mlir::func::FuncOp"> {
  let summary = "reverse-mode differentiation of the first output of a train function";
  let description = [{
    Appends the gradient of `tenon.output 0` with respect to every trained parameter, op by op through DifferentiableOpInterface,
    and writes each by `tenon.write_gradient`. A stack becomes a second, reversed stack: gradients of carries are its carries,
    gradients of values captured from outside accumulate as further carries, gradients of its own parameters are written per
    depth. Forward values the reverse body needs are saved or recomputed: saved are carries, operands and results of contractions,
    attention and normalizers; elementwise ops, views and sources are recomputed unless such an op reads them. Recomputed as well
    are activations whose sum is saved, and joined tensors that contractions read; with `save-operands` these are saved, for
    targets that would write them to memory again. Parameters without gradient become `frozen`.

    Before: one function. After: the same, longer; no call, no tape. Complexity: linear in the number of ops.
    Refuses: P1 an op on an active path has the interface; P2 output 0 is there, the loss.
    Source: Griewank & Walther 2008, chapter 3; saved set after Chen et al. 2016.
  }];
  let options = [Option<"saveOperands", "save-operands", "bool", "false", "what contractions read is saved, however cheap">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def Decompose : Pass<"tenon-decompose", "::mlir::func::FuncOp"> {
  let summary = "replaces fused ops by simpler ones through DecomposableOpInterface";
  let description = [{
    The slow and obviously right path. Without options every such op is replaced; `only=attend` those of that name.
  }];
  let options = [Option<"only", "only", "std::string", "\"\"", "the mnemonic of the ops to decompose; empty: all">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def FuseAttention : Pass<"tenon-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "attention as the language states it to tenon.attention";
  let description = [{
    Recognises `tenon.attend` whose dimensions have roles (AttentionOrder.h): batches, query, heads, widths, several of a kind
    merged; with a value over (B, J, H, F), to which relative values `w[d]` may be added, w over (P, H, F), heads of keys and
    values the first of the heads of queries (H, or K of H = K * G, or one); and whose scores are sums, in any order and grouping,
    with factors, of
    - content terms `query . key`, query over (B, I, H), key over (B, J, H), dimensions in any order or missing (then repeated);
    - position terms `query . table[d]`, table over (P, H), contracted before or after it is gathered;
    - terms of the key and a table, `key . table[d]`;
    - selected terms: `(query . tables)[where(condition, 1, 0)]` over two values;
    - table terms `t[d]`, t over (P, H), or zeros, which vanish;
    - elementwise functions of the distance j - i and the head (ALiBi), which become a table of the distances, or any score over
      (J, H): a table that is read at the key;
    - terms that lie in memory, over (B, I, H, J), dimensions in any order or missing: of inputs, parameters, contractions of
      vectors of pairs and what other layers make of these, elementwise functions of such; no scores that this attention alone
      needs. They are added up to one tensor, without the heads, queries and axes of the batch that none of them has;
    where d is an integer that is linear in query, key and operands over (batch, query), its key coefficient 1 or -1, possibly
    chosen between two such forms by a truth value per row of the batch; or any function of the distance j - i made of integer
    arithmetic, comparisons and choices (clipped, in buckets). A factor is a number or does not depend on the key (it goes to the
    query), or not on the query (to the key); a number that all content terms have goes into the scale. Tables are multiplied by
    numbers of the head at most. Tables at such places, and tables at different places that are functions of the distance, are
    gathered into the order of the distance first: I + J - 1 rows. Without relative values and terms of the key d may be any
    integer functions of (batch, query, key), which become code (AttentionPlaces.h): tables at different places are put behind
    each other, and their terms add up; tables of vectors have a number of rows then, at most 4096. Terms of one kind share one
    side of the contraction: `(q + u) . k` and `q . k + u . k` become the same op. A gather at d may be out of range only under
    the mask, as the checker proves.

    A single score that is an elementwise function, with numbers, of such a sum becomes the sum and a step (AttentionStep.h).

    Masks are integer comparisons that are linear in the query and the key, `and`, `or`, `not`, and any other truth values over
    (batch, query, key), which are then read from memory.

    Before: `tenon.attend`, its scores and masks as tensors. After: `tenon.attention`, which stores no scores; the score and mask
    ops have no readers and go with the next simplification.
    What it does not recognise stays, with a warning that says which term, why, and how many bytes its scores take.
    Terminates: one visit per `tenon.attend`; masks are trees, walked once.
    Source: Dao 2023 for the fused form.
  }];
  let options = [ListOption<"without", "without", "std::string",
                            "terms that stay `attend`: position, selected, table, value, key, computed, pair">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def LastLayer : Pass<"tenon-last-layer", "::mlir::func::FuncOp"> {
  let summary = "of the last layer of a stack, what is read of it";
  let description = [{
    A stack of layers of whose results one is not read at all (XLNet's content stream behind the last layer), or read in some
    rows alone (`h[T: at]`, a gather along one dimension of known size, of at most half of it; of a size that a run brings,
    one row, such as the first or last place), becomes two: all layers but the last, and one of the last layer. That one does
    not compute what nobody reads, and rows only where they are read: the gather goes in front of what says that rows of its
    results are made of rows (`RowOpInterface`, formulas of elements, views: also contractions, normalizations, softmax,
    reductions and the queries of attention), as far as everything that reads them reads those rows; keys and values are of all
    places. Several gathers of one result are one, whose parts are read. Where a result is read through such ops behind the
    stack, as a final norm is, and these are read in rows alone, they are computed for these rows, too, once for all that
    gather; not where two results are read together so. Dropout draws what it draws for these rows of the whole; the gather stays
    behind attention that drops probabilities, has a score that is more than a contraction (relative positions,
    slopes) or values that differ by query (of picked rows it could not be fused), and behind whatever else asks where its
    elements stand.

    A stack stays as it is where no contraction and no attention of its last layer becomes smaller, where rounds may not run,
    or where it is within another loop. So does what stands behind it then. No value changes, to the bit, since sums of a
    contraction are chains that do not ask how many rows there are (but where a target has an instruction of another order for
    many rows). Gradients of parameters of the last layer, and of what stands between it and the gather, are sums over the rows
    that are read, in their order.
    Before attention is fused and before differentiation. Complexity: a look at each use of the layer's values.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def ContractWhere : Pass<"tenon-contract-where", "::mlir::func::FuncOp"> {
  let summary = "contractions whose results are read under a condition alone, for that alone";
  let description = [{
    A contraction of whose result nothing is read but under one condition (`select c, y, 0`, rows of `cross_entropy` with
    `where`, operands of `dot_where`), directly or through elementwise ops and repetitions, becomes `tenon.dot_where` with
    that condition; then its operand is read under it alone, too. So a mixture's expert computes the places that chose it, and
    an adaptive softmax the rows of the clusters that occur; gradients have the condition by the rule of `dot_where`. Where
    the condition is computed behind the contraction, it is moved in front of it. A value that anything else reads stays as it
    is, and so do contractions with fewer than 4 columns.

    Nothing changes but what is never read, so results have the same bits; in gradients, products of zeros are left out. Sums
    that are left out are 0, and functions of them may be infinite: what such a function reads besides becomes 0 there, too,
    so that nothing of it is in gradients.
    Before differentiation. Complexity: a look at each use.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def AddOptimizer : Pass<"tenon-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "the optimizer step at the end of the train function";
  let description = [{
    The function whose attribute is `tenon.optimizer = {rule = "adamw", settings = {lr = 1.0e-3}}` gets `tenon.optimize` with that
    rule and those settings behind its gradients, and the two results as its last outputs, `grad_norm` and `learning_rate`, at the
    attribute's `location`, if it has one. NaN in the `decay` of a parameter becomes the optimizer's own. The attribute goes: a
    second run adds nothing.

    Before: a differentiated function and what its recipe says. After: a train step. Functions without the attribute stay as they
    are.
    Refuses: P3 the attribute has a rule and settings; P4 a function that has it has gradients; P5 the functions of a module have
    one optimizer, but for those that name what they train.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def ApplyNumerics : Pass<"tenon-apply-numerics", "::mlir::func::FuncOp"> {
  let summary = "mixed precision: what is multiplied and what is saved gets 16 bits";
  let description = [{
    In a module with `tenon.compute = bf16` (or f16): operands that MixedPrecisionOpInterface names are rounded by
    `tenon.convert`, its results are rounded and widened again. Everything else stays as it is: parameters, gradients, moments,
    statistics, softmax, losses, sums, the optimizer. A contraction with a `tenon.compute` of its own multiplies that type:
    f32 in such a module (then what it reads and gives is saved in f32, too), or 16 bits where the module has none.

    In a module with `tenon.parameters = bf16` (or f16), parameters are read in that type: as they are by contractions in it,
    widened by all else. Where it has `tenon.remainders`, too, all else reads them joined with their remainders by `tenon.join`:
    every bit of the f32 is there. Without, contractions in the module's type read copies of them.

    In a module with `tenon.reduce = f64`, what sums takes its operands converted to f64 and gives what it gave (WidenSums.h);
    factors of attention are rounded before.

    Saved for the backward pass (results of a stack that only `tenon.at_depth` reads) are rounded values where they are rounded
    anyway, and results of contractions and operands of normalizers, unless the backward pass compares them exactly. Row
    statistics and all else are saved as they are. docs/training.md has the table of rounding points.

    After differentiation, so that forward and backward contractions have one rule. Idempotent: what is narrow is not f32.
    Source: Micikevicius et al. 2018 (master weights, sums in f32); the cast policy follows PyTorch's autocast.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def RecomputeBlocks : Pass<"tenon-recompute-blocks", "::mlir::func::FuncOp"> {
  let summary = "stacks save their carries alone, and their reversed loops run each depth forward again";
  let description = [{
    In a function with `tenon.save = "blocks"`. For a stack and its reversed twin: what the twin alone loads of each depth is
    computed in its body again, by a copy of the ops of the forward body that it is made of, from the carries of that depth,
    which are saved as they are. Stacks in stacks likewise, from outside to inside: the copy of an inner stack saves its carries
    for one depth of the outer one. Saved values that somebody else reads (a contraction over all places of a recurrence) stay.
    States are not written again; random numbers are functions of the depth, so they are the same.

    With `tenon.save_steps = k` a recurrence and its twin become loops over blocks of k rounds first, with a loop through the
    block in each: the outer ones are treated like a stack, so that carries are saved in front of each block and the copy of the
    block saves what its own twin loads. A recurrence is a loop that reads something at its place and no parameter by it, all of
    whose rounds run. What is read of the last round of a carry that is collected is read of the last carry.

    Behind differentiation and mixed precision: the copy gives the numbers that would have been saved, rounded where they are
    rounded, so gradients have the same bits.

    Before: a stack whose results are its carries and everything that its twin loads. After: its carries, of each depth.
    Complexity: linear in the number of ops for each level of nesting.
    Source: Chen et al. 2016, with a segment for each layer.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def DecomposeForTarget : Pass<"tenon-decompose-for-target", "::mlir::func::FuncOp"> {
  let summary = "replaces kernels that a target lacks by simpler ops";
  let description = [{
    Behind differentiation, before kernels are selected: an op with a kernel of its own (attention, its gradient, running sums)
    that the target refuses, for its element type say, becomes contractions, gathers, reductions and elementwise ops through
    DecomposableOpInterface, with a warning that gives the reason and the bytes of the largest tensor that now exists. Types are
    those that `tenon-apply-numerics`, which comes behind, will give: a copy of the function has them, and is asked about. With
    `without=all` a program consists afterwards of what becomes `nest` and `gemm`, of `scatter_add`, `append_state`, `optimize`,
    copies and loops: the first rung of a new target. The scalar code that an op brings (the step of attention) goes on as it
    is, as that of `tenon.map`.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "whose kernels are to run">,
                 ListOption<"without", "without", "std::string",
                            "mnemonics of ops to take apart whatever the target says, or all">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def SelectKernels : Pass<"tenon-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "tensor form to kernel form";
  let description = [{
    Chooses which values exist in memory, and inlines every other op into the kernels that read it: elementwise ops, views and
    sources into `tenon.nest` and into epilogues of `tenon.gemm`; contractions become `tenon.gemm`; reductions and normalizers
    become rows of a nest. With `fuse=false` every op gets a kernel of its own. What a contraction computes where it reads an
    operand ends at what the target says (`Target::mostCostOfOperand`).
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "inline producers into consumers">,
                 Option<"target", "target", "std::string", "\"cpu\"", "whose kernels are to run">];
  let dependentDialects = ["::tenon::TenonDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def PanelParameters : Pass<"tenon-panel-parameters", "::mlir::ModuleOp"> {
  let summary = "which parameters lie in the panels that contractions read";
  let description = [{
    A parameter that every entry reads as operand b of contractions alone, with one side of a matrix contracted and the other one
    in the result, gets `panels` of the form that the target has for the element type (`Target::panelsOf`), and so do these
    contractions: they read it where it lies, or pack it from there across the panels.

    Of one that is trained the last dimensions are cut, along which the optimizer goes; of others those that the first contraction
    (the forward one) gives. Contractions in the other direction pack: a second copy would take the memory of all weights again.

    Row-major stay: what something else reads (a table that is gathered and multiplied), what a contraction of more than 64 rows
    reads, as far as their number is known, sizes that panels do not cut without rest, modules whose contractions read copies.

    Then, of any sizes: a contraction in a loop whose operand b is a parameter that is the same in all rounds, such as the
    recurrent weight of a recurrence, reads panels along which its sums run, made by a `tenon.pack` in front of the outermost such
    loop, of the parameter as it lies. Contractions of one loop that read a parameter the same way share one. As it is stays what
    has more than 64 rows, a loop of one round or along the count of an entry that walks, and what reads the parameter's own
    panels so.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "whose kernels are to run">,
                 Option<"pack", "pack", "bool", "true", "pack what a loop reads in each round in front of it">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def PlaceParameters : Pass<"tenon-place-parameters", "::mlir::ModuleOp"> {
  let summary = "where each parameter lies in the arenas";
  let description = [{
    Sets `offset` and `stride` of every `tenon.parameter`, in bytes: one after the other in the order of the module, each stack
    element on cache lines of its own, and one in panels, of elements of 16 bits too. Parameters, gradients and moments have the
    same places.
  }];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def PlanMemory : Pass<"tenon-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "writes down where the values of an entry live";
  let description = [{
    The plan that code is emitted by, as attributes. Of the function: `tenon.workspace`, the slots of the workspace, lowest first:
    `bytes`, a formula over the dims, `after`, the slots it lies above, `offset` where that puts it at nominal sizes, `saved` if
    it lives from the forward into the backward pass. Of an op: `tenon.places`, one text per result, empty where nobody reads it;
    of a stack also `tenon.carries`. A place is a memory (workspace, parameters, gradients, states, next states, kept states,
    input, output) with the number of its slot, or its byte in the arena of gradients, and how it moves with the depth of each
    stack around it.

    The temporaries that the target's kernels ask for are slots as well, of the op alone: `tenon.temporaries` names them.

    Two values share a slot only where one is written over the other in place; slots overlap in memory where their lifetimes do
    not.
    Refuses: P6 the function has a body; P7 it is in the kernel form, without ops of the schedule form; gradients of parameters
    and states that are not declared, ops that the target has no kernel for.
    Complexity: quadratic in the number of slots. Source: first fit by size, Pisarchyk & Lee 2020, section 4.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "whose kernels are to run">,
                 Option<"nominal", "nominal", "int64_t", "64", "the size of every symbolic dim that overlaps are chosen for">,
                 Option<"costs", "costs", "bool", "false",
                        "of every kernel also `tenon.cost`: operations and bytes of a call and the index space that is parallel, "
                        "as formulas">];
  let dependentDialects = ["::tenon::TenonDialect"];
}

def Schedule : Pass<"tenon-schedule", "::mlir::func::FuncOp"> {
  let summary = "the kernel form to the schedule form: everything has a place and an order";
  let description = [{
    Asks the target what it chooses for each kernel that does not say it yet (`tenon.chosen`), plans memory as `tenon-plan-memory`
    does and writes the program that targets translate, without a decision left: `tenon.loop` for stacks, with nothing carried;
    `tenon.place` for what lies somewhere (parameters, states, carries, saved values); `tenon.copy` for what has to move, where
    the plan could not make writer and reader meet; kernels with the places of their results and temporaries, `tenon.places` and
    `tenon.temporaries`. The function gets its slots, `tenon.slots`, and the scratch of a worker, `tenon.scratch`. Values flow
    from kernel to kernel within a block only.

    Before: the kernel form, parameters placed. After: no stack, no read or write of parameters, states, gradients, outputs.
    Refuses: what `tenon-plan-memory` refuses; P8 a parameter is read in the type in which it lies in memory; more stacks in each
    other than the target has room for indices of.

    What a target checks of it before it translates: S1 the function has slots, types of outputs and scratch; S2 a slot has a
    size over the dims and stands above earlier ones; S3 each place is in a slot that there is; S4 a kernel has places for its
    results and temporaries; S5 what is read is an input, at a place, or a result that has one; S6 a parameter in panels is
    read as it lies; S7 a contraction that reads panels reads those of a parameter or of a pack; S8 a kernel for which
    something is to be chosen says it for the variant of the code; S9 it is a form that the kernel has, with the numbers and
    lists of that form; S10 each is one that the form allows; S11 a block of a GPU has threads and shared memory for the
    tile, its passes can make the folds, all threads that read a fold get it, and they wait where they must; S12 panels are
    those in which the target reads weights; S13 the tiles of a kernel have all points of its op's parallel domain; S14 what
    is chosen takes no more scratch and no longer temporaries than there are; S15 in all variants of the code the same
    temporaries; S16 rows that lie apart (`tenon.row_steps`) are of results that kernels of the block alone read, and begin
    at multiples of 16 bytes; S17 a tensor, with what stands between its rows, lies inside its slot, or its parameters'
    arena, in every iteration of the loops around; S18 an optimizer has a parameter to train; S19 no more loops are in each
    other than the target has room for indices of (8 on the CPU). Sizes over the dims are
    compared at points that tell products of different dims apart.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "whose kernels are to run">,
                 Option<"nominal", "nominal", "int64_t", "64", "the size of every symbolic dim that overlaps are chosen for">];
  let dependentDialects = ["::tenon::TenonDialect"];
}
#endif
