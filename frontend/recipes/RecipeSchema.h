// What a recipe may say: its keys, the functions each key takes, their arguments with types, ranges and defaults, the inputs that
// a data task makes, and what of all this works. Data only: the checker, the compiler and the runtime read the same table.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
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
  Wholes,    // one whole number or a tuple of them
  Betas,     // two numbers in [0, 1)
  Share,     // a whole number of steps >= 0, or a fraction of the run in (0, 1)
  TextOrInt, // a text or the number of a token
  Scheme,    // a word: the scheme of a names table
  Entry,     // a word: an entry of the model
  Call,      // a call of one of the functions of `choices` (a family of functions)
  Calls,     // one such call or a tuple of them
  Source,    // a text or such a call
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
  std::vector<std::string_view> choices;     // Choice, Texts: the words (of texts none: any); Call, Calls: the family
  bool usesDepth = false;                    // the value may depend on `depth`
  bool works = true;                         // false: checked, then "not supported yet"
  double initial = 0, second = 0; // what is not given: a number, the second of two; 0 and 1 of truths, the place among `choices`
  bool none = false;              // nothing stands for what is not given
};

/// An input that a data task makes.
struct Made {
  enum class Element { Whole, Truth, Real };
  enum class Values { Any, Below, Symbols, Places, PlacesAndOne }; // Below: `count` values; Symbols: of the vocabulary; Places: T
  std::string_view name,
      axes; // axes: B rows, A candidates, T places (of a source S), K predictions, C channels of Y x X pixels; "BT"
  Element element = Element::Whole;
  Values values = Values::Any;
  int64_t count = 0;
};

struct Function {
  std::string_view family, name;
  std::vector<Parameter> parameters;
  bool rest = false;                   // any number of positional texts (the globs of a group)
  std::vector<std::string_view> oneOf; // at least one of these keywords must be given
  bool works = true;                   // false: checked, then "not supported yet"
  std::vector<Made> makes = {};        // data tasks: the inputs, in the order of the task's code
  std::optional<Parameter> input = {}; // data tasks: any other keyword is an input of the model, and its value this
};

/// Of `compute`: f32 whose factors a GPU rounds where it multiplies them. It is no type of elements.
inline constexpr std::string_view kRoundedFactors = "tf32";
/// What contractions of a program of f32 can multiply, in words of `compute`.
std::vector<std::string> factorsOfF32();

/// Settings of `train` or `generate` blocks, as parameters.
const std::vector<Parameter> &settings(bool train);
const Function *find(std::string_view family, std::string_view name);
std::vector<std::string> names(std::string_view family);

/// Whether a function of the family is there and works.
bool works(std::string_view family, std::string_view name);
/// The names of those that work, for messages: "adam, sgd and noam".
std::string working(std::string_view family, std::string_view last = "and");

} // namespace tenon::schema
