// The syntax tree of a .tn file: plain structs, no Boost, no MLIR. The grammar is that of frontend/README.md; one struct per
// rule. Every node carries the byte range of its source text. Produced by syntax/Parse.h, read by Sema.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ast {

/// Byte range [begin, end) in file `file` (index into SourceFiles). 0-based offsets; line and column are derived on demand.
struct Range {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Expr;
using ExprPtr = std::shared_ptr<Expr>; // shared: a default expression is evaluated in many scopes, never mutated after parsing

struct Name {
  std::string text;
  Range range;
};

/// One factor or addend of `H * E` or `M + T`; `op` is 0 for the first, '*' or '+' after it. ".." is a name with text "..".
struct AxisTerm {
  char op = 0;
  Name name;
};

/// x[from -> to], x[from: low], x[from: low .. high -> to]; `openEnd` for "low .." without a high end.
struct AxisOp {
  std::vector<AxisTerm> from, to;
  ExprPtr low, high;
  bool openEnd = false;
  Range range;
};

struct Argument {
  std::optional<Name> keyword;
  ExprPtr value;
};

/// `element` is "real" when the text gives none, else the word (index, bool, i32, f32, ...). `bound` is the n of index(n).
struct Type {
  std::string element = "real";
  ExprPtr bound;
  std::vector<Name> axes; // ".." allowed
  bool hasShape = false;
  Range range;
};

struct Typed { // names of a group are already separated: `a, b: [D]` gives two
  Name name;
  Type type;
};

struct Binder {
  Name name, axis;
};

struct AttendItem {
  enum class Kind { Score, Scale, Mask, Drop, Value } kind;
  std::optional<Name> name;
  ExprPtr value;
  Range range;
};

struct Stmt;
using StmtPtr = std::shared_ptr<Stmt>;

struct Expr {
  enum class Kind { Int, Real, String, Name, Tuple, Neg, Not, Binary, If, Attend, Scan, AxisOps, Call, Member } kind;
  Range range;
  int64_t integer = 0; // Int
  double real = 0;     // Real
  std::string text;    // String: contents; Name, Member: the name; Binary: the operator as written
  Range opRange;       // Binary: the operator; Member: the name after the dot
  std::vector<ExprPtr>
      operands;                // Tuple: elements; Neg, Not: 1; Binary: 2; If: condition, then, else; AxisOps, Call, Member: base
  std::vector<AxisOp> axisOps; // AxisOps
  std::vector<Argument> arguments; // Call
  std::vector<Binder> binders;     // Attend, Scan
  std::vector<AttendItem> items;   // Attend
  std::vector<StmtPtr> body;       // Scan
};

/// layer Name[I -> O, D](x: [.., I]) -> [.., O] { ... } or fn.
struct Formal {
  Name name;
  std::optional<Name> output;
};
struct Callable {
  bool isLayer = true;
  Name name;
  std::vector<Formal> formals;
  std::vector<Typed> parameters;
  std::vector<Type> results;
  std::vector<StmtPtr> body;
  Range range; // "layer" to the closing brace
};

struct Stmt {
  enum class Kind {
    Bad,
    Config,
    Dim,
    Require,
    In,
    Param,
    State,
    Next,
    Use,
    Let,
    Out,
    Loss,
    Metric,
    Return,
    Until,
    Carry,
    Yield,
    Callable
  } kind;
  Range range;
  // One statement per name: `config A = 1, B = 2` gives two Config statements, `param u, v: [H]` two Param statements.
  Name name; // Config, Dim, In, Param, State, Next, Use, Loss, Metric, Carry; Out: the entry name ("infer" when none)
  std::vector<Name> names;     // Let: left side; Out: demanded values
  std::vector<Name> walked;    // Out: the axes in out step(T)
  std::optional<Type> type;    // In, Param, State, Carry; Let: optional
  ExprPtr value;               // Config, Dim (= or <=), Require, Param, State, Next, Let, Loss, Metric, Until, Carry
  char op = 0;                 // Dim: '=', '<' (for <=) or 0; Param: '~' or '='
  std::string message;         // Require
  std::vector<ExprPtr> values; // Return, Yield
  enum class Repeat { None, Stack, Loop } repeat = Repeat::None; // Use
  ExprPtr count;                                                 // Use: stack[count]
  Name layer;                                                    // Use
  std::vector<AxisOp> axisOps;                                   // Use
  std::vector<Argument> arguments;                               // Use
  std::shared_ptr<struct Callable> callable;                     // Callable
};

struct Setting {
  bool isBind = false; // bind B = 1, T = 2
  std::vector<std::pair<Name, ExprPtr>> bindings;
  Name key; // else key = value; a string key keeps its contents
  bool keyIsString = false;
  ExprPtr value;
  Range range;
};
struct Recipe {
  enum class Kind { Train, Generate, Names } kind;
  Name owner; // model or layer
  Name name;  // after "as", else the owner
  std::vector<Setting> settings;
  Range range;
};
struct Model {
  Name name;
  std::vector<StmtPtr> body;
  Range range;
};
struct Import {
  std::string path;
  Range range;
};
struct Item {
  enum class Kind { Import, Model, Callable, Recipe } kind;
  Import import;
  std::shared_ptr<Model> model;
  std::shared_ptr<Callable> callable;
  std::shared_ptr<Recipe> recipe;
};
struct File {
  uint32_t file = 0;
  std::vector<Item> items;
};

} // namespace tenon::ast
