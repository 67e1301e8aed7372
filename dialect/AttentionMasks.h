// The mask algebra of fused attention: and, or, not over integer tests that are linear in the query and the key.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace tenon {

/// Which index a dimension of an index operand is.
constexpr int64_t kBatchLabel = 0, kQueryLabel = 1, kKeyLabel = 2;
/// The labels of one operand of an attention op: `array<i64: ..>` or `[0, 1]`.
llvm::SmallVector<int64_t> labelsOf(mlir::Attribute attribute);
/// Whether the attribute is one of these.
bool isLabels(mlir::Attribute attribute);

/// rest + query * i + key * j + sum of coefficient * operand + sum of coefficient * part: an integer for every (batch, query i,
/// key j). Without parts it is linear in i and j.
struct MaskForm {
  struct Term {
    int64_t operand; // number among the index operands
    int64_t coefficient;
  };
  /// of div divisor or of mod divisor, towards minus infinity; the divisor is at least 1.
  struct Part;
  mlir::AffineExpr rest; // over the dims of the entry
  unsigned dimCount = 0;
  int64_t query = 0, key = 0;
  llvm::SmallVector<Term> terms;
  std::vector<Part> parts;

  bool isLinear() const;
  /// 1 - form: what is at most 0 where the form is not.
  MaskForm negated() const;
};
struct MaskForm::Part {
  bool isQuotient; // else the remainder
  int64_t divisor, coefficient;
  MaskForm of;
};
inline bool MaskForm::isLinear() const { return parts.empty(); }

/// One node. Leaves: form <= 0, form == 0, or the truth value of an operand.
struct Mask {
  enum class Kind { And, Or, Not, AtMostZero, IsZero, Holds } kind = Kind::And;
  std::vector<Mask> parts; // And, Or: any number; Not: one
  MaskForm form;           // AtMostZero, IsZero
  int64_t operand = 0;     // Holds
};

/// As an attribute: `{rest = affine_map<(d0) -> (d0)>, query = 1, key = -1, operands = array<i64: 0>, coefficients = array<i64:
/// 1>, parts = [{div = 64, of = {key = 1}, times = -1}]}`, `mod` instead of `div` for a remainder; what is 0 or empty is left
/// out.
mlir::DictionaryAttr toAttribute(const MaskForm &form, mlir::MLIRContext *context);
/// As an attribute: `["and", a, b]`, `["or", a, b]`, `["not", a]`, `{test = "le", ..}` with the rest as for a form, `{test =
/// "holds", operand = 0}`.
mlir::Attribute toAttribute(const Mask &mask, mlir::MLIRContext *context);
/// Nothing if the attribute is no form or no mask; `problem` then says why.
std::optional<MaskForm> toForm(mlir::Attribute attribute, std::string &problem);
std::optional<Mask> toMask(mlir::Attribute attribute, std::string &problem);
/// Calls `visit` with the number of every operand that the mask or the form names.
void forEachOperand(const Mask &mask, llvm::function_ref<void(int64_t)> visit);
void forEachOperand(const MaskForm &form, llvm::function_ref<void(int64_t)> visit);
/// Calls `visit` with the form and those inside of it.
void forEachForm(const MaskForm &form, llvm::function_ref<void(const MaskForm &)> visit);

} // namespace tenon
