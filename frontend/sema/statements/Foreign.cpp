#include "frontend/sema/statements/Foreign.h"
#include "frontend/sema/Checker.h"
#include "runtime/base/DataType.h"
#include <algorithm>
#include <span>

namespace tenon::sema {
namespace {

struct Remedy {
  std::string_view name;
  const char *here;
};

const char *find(std::span<const Remedy> table, const std::string &name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Remedy &each) { return each.name == name; });
  return found == table.end() ? nullptr : found->here;
}

constexpr char kOrder[] = "a type, which sets the order of axes (functions go by their names): let y: [B, D, T] = x";
constexpr char kRegroup[] = "x[H * E -> D], which merges axes, x[D -> H * E], which splits one, x[T -> S], which renames it";
constexpr char kExpand[] = "expand[T](x)";
constexpr char kPick[] = "x[T: 0], one place of an axis";
constexpr char kGather[] = "x[T: ids], an axis and its places";
constexpr char kParts[] = "slices, x[T: 0 .. 4 -> A] and x[T: 4 .. T -> C]";
constexpr char kConcat[] = "concat[A + B -> C](a, b)";
constexpr char kContraction[] = "dot[D](x, w): the axes say what is summed";
constexpr char kModule[] = "a name without a module: relu(x), sum[D](x), use up = Linear[D -> F]";
constexpr char kWhere[] = "where(c, x, 0.0)";
constexpr char kMask[] = "a `mask` of an attend, such as j <= i, or where(iota[S]() <= iota[T](), x, 0.0)";
constexpr char kType[] = "a type: let y: bf16[B, T] = x; real(n) makes reals of whole numbers";
constexpr char kNothing[] = "nothing: x itself has a value, which nothing changes";
constexpr char kConvolution[] = "the layer Conv[C -> O, Y -> Y2, X -> X2], or a `dot` over window[T -> W * K](x)";

constexpr Remedy kFunctions[] = {
    {"BatchNorm1d", "the layer BatchNorm[C]"},
    {"BatchNorm2d", "the layer BatchNorm[C]"},
    {"Conv1d", kConvolution},
    {"Conv2d", kConvolution},
    {"Dropout", "dropout(x, 0.1)"},
    {"Embedding", "a table and a gather: param emb: [V, D] ~ normal(0.02), then emb[V: ids]"},
    {"F", kModule},
    {"False", "false"},
    {"ModuleList", "use blocks = stack[N] Block[D]"},
    {"MultiheadAttention", "attend(i: T, j: S) { score dot[E](q, k) scale 1 / sqrt(E) value v }"},
    {"None", "false where a param is left out, Linear[D -> F](bias = false), and expand[T](x) where an axis is added"},
    {"Parameter", "param w: [D] ~ normal(0.02)"},
    {"Sequential", "a chain of calls, b(a(x)), or use blocks = stack[N] Block[D]"},
    {"True", "true"},
    {"arange", "iota[T]()"},
    {"argsort", "the second result of `top[T -> Rank](x)` with `dim Rank = T`"},
    {"bmm", kContraction},
    {"cat", kConcat},
    {"clamp", "clip(x, low, high)"},
    {"concatenate", kConcat},
    {"constant", "a number behind `=`: param w: [D] = 1"},
    {"cumprod", "exp(cumsum[T](log(x))) of what is above 0"},
    {"detach", "stop_gradient(x)"},
    {"einsum", kContraction},
    {"elu", "where(x > 0, x, exp(min(x, 0)) - 1)"},
    {"full_like", "full[B, T](1.0)"},
    {"gather", kGather},
    {"glorot_normal", "normal(sqrt(2 / (I + O)))"},
    {"glorot_uniform", "xavier_uniform()"},
    {"he_normal", "normal(sqrt(2 / I))"},
    {"he_uniform", "uniform(sqrt(6 / I))"},
    {"index_select", kGather},
    {"jnp", kModule},
    {"kaiming_uniform", "uniform(sqrt(6 / I)); PyTorch's layers begin with uniform(1 / sqrt(I))"},
    {"leaky_relu", "max(x, 0.01 * x)"},
    {"lecun_normal", "normal(sqrt(1 / I))"},
    {"logsigmoid", "-softplus(-x)"},
    {"logsumexp", "m + log(sum[D](exp(x - m))) with m = stop_gradient(max[D](x))"},
    {"masked_fill", kWhere},
    {"matmul", kContraction},
    {"mish", "x * tanh(softplus(x))"},
    {"mm", kContraction},
    {"nn", kModule},
    {"norm", "sqrt(sum[D](x * x)), or the layer LayerNorm[D]"},
    {"np", kModule},
    {"one_hot", "real(ids == iota[V]())"},
    {"ones", "full[B, T](1.0), and as initial values: param w: [D] = 1"},
    {"ones_like", "full[B, T](1.0)"},
    {"permute", kOrder},
    {"pow", "x ^ 2"},
    {"rand", "uniform[B, T](0, 1)"},
    {"randn", "normal[B, T](1)"},
    {"range", "iota[T](); rounds are those of loop[N] and stack[N]"},
    {"rearrange", kRegroup},
    {"relu6", "clip(x, 0, 6)"},
    {"repeat", kExpand},
    {"reshape", kRegroup},
    {"sign", "where(x > 0, 1.0, where(x < 0, -1.0, 0.0))"},
    {"sort", "top[T -> Rank](x) with `dim Rank = T`: the values from the largest on, and their places"},
    {"square", "x ^ 2"},
    {"squeeze", kPick},
    {"std", "sqrt(mean[D]((x - mean[D](x)) ^ 2))"},
    {"swish", "silu(x)"},
    {"topk", "top[V -> K](x): values and places"},
    {"torch", kModule},
    {"transpose", kOrder},
    {"tril", kMask},
    {"triu", kMask},
    {"truncated_normal", "trunc_normal(0.02)"},
    {"unsqueeze", kExpand},
    {"var", "mean[D]((x - mean[D](x)) ^ 2)"},
    {"view", kRegroup},
    {"xavier_normal", "normal(sqrt(2 / (I + O)))"},
    {"zeros", "full[B, T](0.0), and as initial values: param w: [D] = 0"},
    {"zeros_like", "full[B, T](0.0)"}};

/// Beside those that are functions elsewhere, too.
constexpr Remedy kMembers[] = {{"H", kOrder},
                               {"T", kOrder},
                               {"astype", kType},
                               {"bool", "a comparison: x != 0"},
                               {"chunk", kParts},
                               {"clone", kNothing},
                               {"contiguous", kNothing},
                               {"copy", kNothing},
                               {"device", "a choice for the whole program: tenon compile --target"},
                               {"dim", "known when the file is checked: tenon inspect shows it"},
                               {"dtype", kType},
                               {"expand_as", kExpand},
                               {"flatten", kRegroup},
                               {"float", kType},
                               {"half", kType},
                               {"int", "a whole number from the start, an index(n) or i32: reals are not rounded to places"},
                               {"item", kNothing},
                               {"long", "a whole number from the start, an index(n) or i32: reals are not rounded to places"},
                               {"mT", kOrder},
                               {"ndim", "known when the file is checked: tenon inspect shows it"},
                               {"numel", "size[B, T]()"},
                               {"select", kPick},
                               {"shape", "the name of the axis: T is its size, as size[T]() is"},
                               {"size", "the name of the axis: T is its size, as size[T]() is"},
                               {"split", kParts},
                               {"swapaxes", kOrder},
                               {"t", kOrder},
                               {"to", kType},
                               {"tolist", kNothing},
                               {"type", kType},
                               {"unbind", kParts},
                               {"unflatten", kRegroup},
                               {"weight", "a param of a used layer: use up = Linear[D -> F], then up.weight"}};

struct OtherType {
  std::string_view name;
  runtime::DataType here;
};
constexpr OtherType kTypes[] = {{"bfloat16", runtime::DataType::BF16}, {"boolean", runtime::DataType::Bool},
                                {"double", runtime::DataType::F64},    {"float16", runtime::DataType::F16},
                                {"float32", runtime::DataType::F32},   {"float64", runtime::DataType::F64},
                                {"half", runtime::DataType::F16},      {"int32", runtime::DataType::I32}};
constexpr Remedy kTypeWords[] = {{"Tensor", "no word, reals have none: x: [B, T]"},
                                 {"float", "no word, reals have none: x: [B, T]"},
                                 {"int", "index(n), which holds 0 .. n - 1, or i32"},
                                 {"int64", "index(n), which holds 0 .. n - 1, or i32"},
                                 {"long", "index(n), which holds 0 .. n - 1, or i32"},
                                 {"tensor", "no word, reals have none: x: [B, T]"},
                                 {"uint8", "index(256)"}};

} // namespace

const char *insteadOf(const std::string &name) { return find(kFunctions, name); }

std::string insteadOfMember(const std::string &name) {
  for (const std::span<const Remedy> table : {std::span<const Remedy>(kMembers), std::span<const Remedy>(kFunctions)})
    if (const char *here = find(table, name))
      return here;
  static const std::set<std::string> alongAxes = {"all", "any",  "argmax", "cumsum",    "flip",    "log_softmax",
                                                  "max", "mean", "min",    "normalize", "softmax", "sum"};
  if (!Checker::isBuiltin(name))
    return "";
  return alongAxes.count(name) ? "a function, its axes in brackets: " + name + "[D](x)" : "a function: " + name + "(x)";
}

std::string insteadOfType(const std::string &name) {
  for (const OtherType &each : kTypes)
    if (each.name == name)
      return std::string(runtime::nameOf(each.here));
  const char *here = find(kTypeWords, name);
  return here ? here : "";
}

std::string helpOfAxis(const std::string &name) {
  return "what stands outside of a model sees no axes of its callers: name " + name +
         " in the brackets of the signature, as in "
         "layer Block[" +
         name + "](..), leave it to `..`, or let the body say what it is, dim " + name + " = ..";
}

} // namespace tenon::sema
