// The optimizer: one op behind all gradients.
#ifndef TENON_OPTIMIZE_OP_TD
#define TENON_OPTIMIZE_OP_TD
include "TenonDialect.td"

def Tenon_OptimizeOp : Tenon_Op<"optimize", [Tenon_UpdatesParameters,
                                            DeclareOpInterfaceMethods<KernelOpInterface, ["parallelDomain", "countBytes"]>]> {
  let summary = "clips the gradients, takes one optimizer step over the arenas";
  let description = [{
    Formula: with the gradient g of a parameter x, after clipping, and moments that start at 0: `m = beta1 m + (1 - beta1) g`,
    `v = beta2 v + (1 - beta2) g^2` or `max(beta2 v, |g| + eps)`, direction `r = m / (sqrt(v) + eps)` or `m / v`,
    `x -= rate ratio r`. A rule with factored moments keeps of a matrix means of g^2 by rows and by columns alone, in an arena of
    their own (`FactoredMoments.h`), and leaves directions in the place of the gradients. How a rule corrects moments for their
    start, where its decay comes in and what its ratio is, says its
    row of the table `frontend/recipes/OptimizerRules.cpp`; `docs/recipes.md` has each as a formula.

    | attribute | meaning |
    |---|---|
    | rule | a row of the table |
    | settings | those of the rule and of its schedule, by their names, and those below |

    All gradients have been written. Settings are numbers unless said; what is not there is the table's default. `betas` is
    beta1 and beta2, `form` a name, `nesterov` a truth value, `at` an array of numbers.

    | key | default | meaning |
    |---|---|---|
    | lr | required | rate before the schedule |
    | clip | 0: none | bound c of the norm n of all gradients but those with a `clip` of their own: times min(1, c / (n + 1e-6)) |
    | clip_tensor | 0: none | the same, of the norm of each tensor alone; a layer of a stack is a tensor of its own |
    | clip_value, clip_tf | 0: none | elements without a `clip` of their own are brought into [-c, c]; no 1e-6 beside norms |
    | accumulate | 1 | TnContext::step counts batches, and k of them make an update, by the mean of their gradients |
    | schedule | "constant" | a row of the table's schedules; s = step counts updates from 0 |
    | at_start | false | the schedule's length is TnContext::total_steps |
    | warmup_share, every_share, at_share, period_share | none | warmup, every, at, period are this share of the length |
    | scale_growth, scale_backoff, scale_every | none | the gradients are those of the loss times the loss scale |

    With a loss scale z (`tenon.read_loss_scale`) gradients are divided by it before all else, norms too. A step whose norm is
    finite counts as good; after scale_every good ones z is multiplied by scale_growth and the count begins anew. After one whose
    norm is not finite it is multiplied by scale_backoff, and the count begins anew. z stays within 2^-96 and 2^96.

    Attributes of a `tenon.parameter`, arrays of one value or one per stack element: `lr` and
    `gradient` (factors; that of the gradient after clipping), `decay` (instead of the setting), `clip` and `clip_group` (bound of
    the norm of what has the same group and the same bound, instead of the setting; NaN: the setting), `frozen_at` (1: this
    element keeps its value). Frozen parameters take no part, neither in norms. One pass over the arenas: gradient, moments and
    parameter are read and written once; a rule with a ratio per tensor has a second pass, for the norms of the first are needed
    there. Results: the norm of all gradients before clipping (0 where an update waits for further
    batches) and the learning rate of this step, f64.

    Constraints: C1 rule, form and schedule are among those of the table; C2 settings are those of the rule, of the schedule and
    of the table above, each of its kind; C3 lr is there; C4 accumulate is 1 or more; C5 a schedule that ends does so after its
    warmup, unless the run says how long it is; C6 settings that the table requires of a schedule are there and positive (of
    several numbers each more than the one before), and exactly one where it asks for one of two; C7 the results are f64
    scalars; C8 the settings of a loss scale are there together: growth of 1 or more, backoff of more than 0 and up to 1, every of
    1 or more.

    Gradient: none, it is the end of a step.

    Source: those of the table's rows.

    Example:
    ```mlir
    %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f64>
    ```
  }];
  let arguments = (ins StrAttr:$rule, DictionaryAttr:$settings);
  let results = (outs Tenon_RealTensor:$norm, Tenon_RealTensor:$rate);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// A setting, or `otherwise` where it is not there.
    double number(llvm::StringRef key, double otherwise);
    bool isSet(llvm::StringRef key);
    llvm::StringRef schedule();
    /// Batches whose gradients make one update.
    int64_t accumulate() { return int64_t(number("accumulate", 1)); }
    /// The gradients are those of the loss times the loss scale.
    bool isScaled() { return bool(getSettings().get("scale_growth")); }
    /// The schedule's length is TnContext::total_steps.
    bool lengthAtStart() { return isSet("at_start"); }
  }];
  let assemblyFormat = "$rule attr-dict `:` type($norm) `,` type($rate)";
}
#endif
