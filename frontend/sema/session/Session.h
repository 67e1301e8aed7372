// What all entries of one compilation share: the loaded files, the diagnostics (one root cause = one error), the parameters and
// random places found so far.
#pragma once
#include "frontend/Sema.h"
#include "frontend/sema/Values.h"
#include <optional>
#include <set>
#include <unordered_map>

namespace tenon::sema {

struct ParameterRecord { // a parameter before its entry is known to reach it
  Param param;
  std::vector<PathStep> steps;
  std::string leaf;
};

struct StatePath {
  std::vector<PathStep> steps;
  std::string leaf;
  std::vector<int64_t> stackCounts;
};

class Session {
public:
  Session(const CheckOptions &options, SourceFiles &sources, Diagnostics &diagnostics)
      : options(options), sources(sources), diagnostics(diagnostics) {}

  const CheckOptions &options;
  SourceFiles &sources;
  Diagnostics &diagnostics;
  Diagnostics later; // "not supported yet" of `tenon check`: right in the language, so it hides no mistake that is found after it

  std::vector<std::shared_ptr<ast::File>> trees;          // std.tn first
  std::map<std::string, const ast::Callable *> library;   // layers and functions of std.tn
  std::map<std::string, const ast::Callable *> callables; // of all other files
  std::map<std::string, const ast::Model *> models;
  std::vector<const ast::Recipe *> recipes;
  const ast::File *mainFile = nullptr;
  std::string standardSought; // the folders without std.tn, where it was not found
  bool standardReported = false;
  bool circleReported = false;
  bool endlessReported = false;                     // T0415: every call on the way back up meets the limit again
  bool tablesReported = false;                      // mistakes in names tables
  std::set<std::pair<uint32_t, uint32_t>> badSizes; // configs that were reported to be no whole number

  std::vector<ParameterRecord> parameters; // Op::Param of an unfinished entry indexes this list
  std::map<std::string, uint32_t> parameterByPath;
  std::map<std::string, StatePath> modelStates; // states without a run-time axis, by their paths
  std::vector<Site> sites;

  /// Counts work: one unit is about a microsecond and 500 bytes, an expression or a statement looked at. False once too much was
  /// done or too many mistakes were found: whoever asks stops, and what it leaves undone says nothing more.
  bool spend(ast::Range place, uint64_t units);
  /// The same for proofs about indices, about microseconds.
  bool spendProof(ast::Range place, uint64_t units);
  /// False once spend() was.
  bool mayGoOn() const { return !stopped && !diagnostics.full(); }
  /// Nothing more is looked at; the mistake that says why has been reported.
  void stop() { stopped = true; }
  /// More definitions need each other than stacks can be made for.
  void reportChain(ast::Range place);

  /// Null when the same mistake at the same place has been reported already.
  Diagnostic *error(const char *code, ast::Range range, std::string message, std::string label = {});
  /// The same for a warning, which stops nothing.
  Diagnostic *warning(const char *code, ast::Range range, std::string message, std::string label = {});
  /// Loads options.path, its imports and std.tn. False if something is missing or does not parse.
  bool load();
  /// `ordinal` of the random place at `offset` among those of `body`, counted in the text.
  unsigned siteOrdinal(const std::vector<ast::StmtPtr> &body, ast::Range place);
  uint32_t parameter(ParameterRecord record); // index into parameters
  uint32_t site(const std::string &path);     // index into sites
  /// Expression text of --set, as a file of its own named "--set NAME".
  ast::ExprPtr parseOption(const std::string &name, const std::string &text);

private:
  uint64_t spent = 0, spentOnProofs = 0;
  bool stopped = false;
  std::set<std::tuple<std::string, uint32_t, uint32_t, uint32_t>> reported;
  std::map<std::string, uint32_t> loaded; // canonical path -> file
  std::string standardPath;               // of std.tn, canonical; empty where it is the main file itself
  // Models, layers and functions. What a file declares hides what the library calls so: the library may gain names.
  std::map<std::string, ast::Range> declared, declaredInLibrary;
  std::map<std::string, ast::ExprPtr> parsedOptions;
  std::unordered_map<const void *, std::vector<std::pair<uint32_t, uint32_t>>> sitesOfBody;
  bool loadFile(const std::string &path, std::optional<ast::Range> from);
  bool loadImport(const ast::Import &import, const std::string &importer);
  void declare(const ast::Item &item, bool ofLibrary);
};

/// The models that the main file is about: its own ones, else (a file of recipes for an imported model) those its recipes train.
std::vector<const ast::Model *> modelsOf(const Session &session);

} // namespace tenon::sema
