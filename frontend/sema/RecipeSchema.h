// What a recipe may say: its keys, the functions each key takes, and their arguments with types and ranges. Data only.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::schema {

enum class Type {
  Int,
  Real,
  Bool,
  Text,
  Choice,    // a word or a text out of `choices`
  Texts,     // one text or a tuple of texts
  Reals,     // one number or a tuple of numbers
  Betas,     // two numbers in [0, 1)
  Share,     // a whole number of steps >= 0, or a fraction of the run in (0, 1)
  TextOrInt, // a text or the number of a token
  Scheme,    // a word: the scheme of a names table
  Entry,     // a word: an entry of the model
  Call,      // a call of one of the functions of `choices` (a family of functions)
  Calls,     // one such call or a tuple of them
  Loss,      // a weighted sum of losses
  Measure,   // a word: a loss or metric of the model
  Word,      // free word or text
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Parameter {
  std::string_view name;
  Type type;
  bool required = false;
  bool positional = false;
  double low = -kInfinity, high = kInfinity; // numbers: low <= x <= high
  bool lowOpen = false, highOpen = false;    // then low < x, x < high
  std::vector<std::string_view> choices;     // Choice: the words; Call, Calls: the family
  bool usesDepth = false;                    // the value may depend on `depth`
};

struct Function {
  std::string_view family, name;
  std::vector<Parameter> parameters;
  bool rest = false;                   // any number of positional texts (the globs of a group)
  std::vector<std::string_view> oneOf; // at least one of these keywords must be given
};

/// Settings of `train` or `generate` blocks, as parameters.
const std::vector<Parameter> &settings(bool train);
const Function *find(std::string_view family, std::string_view name);
std::vector<std::string> names(std::string_view family);

/// What a data task hands to the model: names of inputs. Empty: not settled yet, so nothing is checked.
const std::vector<std::string_view> &inputsOf(std::string_view task);

} // namespace tenon::schema
