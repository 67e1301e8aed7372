// One row per optimizer and per schedule: settings with ranges and defaults, what is kept, what the rule is made of, what it
// costs. Data only: checker, manifest, verifier, costs and the targets read the same rows. What an ingredient computes is in
// lowering/code (OptimizerRule.cpp, LearningRate.cpp), which does not compile while it lacks one.
#pragma once
#include "frontend/recipes/RecipeSchema.h"

namespace tenon::schema {

/// What is kept beside a parameter x; g is its gradient.
enum class Moments {
  Momentum, // one, where `momentum` is above 0: a fading sum of g
  Squares,  // two: fading means m of g and v of g^2
  Largest,  // two: m, and v the largest |g|, fading
  Sign,     // one: m, faded by beta2; the direction is the sign of the mean of g and the m before, by beta1
  Factored, // of a matrix the fading means of g^2 by rows and by columns, else of each g^2; with `momentum` also of the steps
};
/// Moments start at 0, so the first means are too small; t counts updates from 1.
enum class Correction {
  None,
  Each, // moments are divided by 1 - beta^t
  Rate, // the rate is multiplied by sqrt(1 - beta2^t) / (1 - beta1^t): eps is added to the root of a v that is too small
  // As Rate, times sqrt((n - 4) (n - 2) N / ((N - 4) (N - 2) n)), n = N - 2 t beta2^t / (1 - beta2^t), N = 2 / (1 - beta2) - 1:
  // n gradients are in v. While n <= 5 the variance of its root is too large: m / (1 - beta1^t) alone is the direction.
  Rectified,
};
/// Where weight decay comes in.
enum class Decay {
  Gradient,  // added to g, as that of decay / 2 x^2 in the loss
  Direction, // added to the quotient of the moments
  Before,    // x shrinks by rate * decay of it, then moves
  After,     // x moves, then shrinks
  Scaled,    // as Before, the rate being that times the size of the tensor's numbers
};
/// What the rate is multiplied by, per tensor (a layer of a stack is a tensor of its own), r being the direction.
enum class Trust {
  None,
  All,         // |x| / |r|, 1 if either is 0
  NormUpTo10,  // min(|x|, 10) / |r|
  Decayed,     // as All, and 1 for tensors without decay
  RatioUpTo10, // min(|x| / |r'|, 10), 1 if |x| or |g| is 0; r' has eps inside the root and the decay of all tensors
};

/// What keeps means of squares that are taken apart from 0.
enum class Bound {
  None,
  Added, // eps is added to each square
  Least, // their product is at least eps^2, the mean over rows eps; the rate is at most t^-0.5
};

struct OptimizerForm {
  std::string_view name; // of `form = name`
  Correction correction;
  Decay decay;
  Trust trust = Trust::None;
  Bound bound = Bound::None;
};

struct OptimizerRule {
  std::string_view name;
  Moments moments;
  std::vector<OptimizerForm> forms; // the first holds without `form`; one alone has no name
  std::vector<Parameter> settings;  // but `form`
  int operations;                   // per element, in additions: norm, clipping, moments, update
  std::string_view decay = "decay"; // the setting's name
  bool decaysMatrices = false;      // only tensors of more than one dimension decay, unless a group says so

  bool isFactored() const { return moments == Moments::Factored; }
  /// How many arenas of moments there are with this `momentum`: tensors that are kept per parameter, or of Factored means by rows
  /// and columns first.
  int momentCount(double momentum) const;
};
const std::vector<OptimizerRule> &optimizerRules();
const OptimizerRule *findOptimizer(std::string_view name);
/// The form of this name, the first one for an empty name; null if there is none.
const OptimizerForm *findForm(const OptimizerRule &rule, std::string_view name);

/// The factor of the rate after s updates, w being `warmup`, T the length. What is not said otherwise rises as s / w while s < w.
/// p = (s - w) / (T - w); beyond T all stay as they are there.
enum class Curve {
  Constant,       // 1
  Power,          // low + (1 - low) (1 - p)^power; low: `floor`, or `end` as a share of `lr`
  Cosine,         // low + (1 - low) (1 + cos(pi p)) / 2
  PowerOfAll,     // (1 - s / T)^power: jumps at w
  Product,        // min(1, s / w) (1 - s / T)
  CosineOfAll,    // rises while s <= w, then (1 + cos(pi s / T)) / 2
  CosineLate,     // low + (1 - low) (1 + cos(pi s / T)) / 2; 1 at s = 0, although it warms up
  PowerFromFirst, // as Power, but max(s, 1) / w while s <= w
  Noam,           // factor size^-0.5 min(t^-0.5, t w^-1.5), t = s + 1
  NoamPeak,       // w^0.5 min(t^-0.5, t w^-1.5), t = s + 1
  NoamLate,       // min(s^-0.5, s w^-1.5)
  InverseRoot,    // (w / s)^0.5
  InverseRootOf,  // 1 / max(s, constant)^0.5
  Steps,          // factor^floor(s / every)
  Milestones,     // factor^n, n of the numbers of `at` being up to s
  Restarts, // low + (1 - low) (1 + cos(pi q)) / 2, q the share of its cycle that is past: the first has `period` updates, each
            // further one `growth` times as many; or `cycles` of them are T - w updates; from T on low
  Plateau,  // max(factor^k, floor), k the times that the training loop has lowered it: TnContext::total_steps - 1
};

struct ScheduleRule {
  std::string_view name;
  Curve curve;
  std::vector<Parameter> settings;
  bool ends = false;                        // falls towards an end, which it must be told
  bool wholeWarmup = true;                  // a `warmup` that is a share of the run is rounded down to whole updates
  std::vector<std::string_view> spans = {}; // settings that count epochs, no updates, where the schedule says `epochs`
  std::vector<std::string_view> oneOf = {}; // exactly one of these is given
};
const std::vector<ScheduleRule> &scheduleRules();
const ScheduleRule *findSchedule(std::string_view name);

} // namespace tenon::schema
