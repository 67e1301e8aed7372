#include "frontend/sema/models/ModelCheck.h"
#include "frontend/graph/AttentionMaps.h"
#include "frontend/graph/ComputeTypes.h"
#include "frontend/graph/Slices.h"
#include "frontend/graph/Supported.h"
#include "frontend/names/NameOwners.h"
#include "frontend/names/Publish.h"
#include "frontend/recipes/Recipes.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/models/ConstantSetting.h"
#include "frontend/sema/models/Declared.h"
#include "frontend/sema/models/Reach.h"
#include "frontend/sema/models/TaskEntries.h"
#include "frontend/walk/Step.h"
#include <algorithm>
#include <set>

namespace tenon::sema {
namespace {

class ModelCheck {
public:
  ModelCheck(Session &session, const ast::Model &model)
      : session(session), model(model), declared(model), tasks(session, model, declared) {
    reportRepeated(session.options.set, "--set");
    reportRepeated(session.options.bind, "--bind");
    for (auto &[name, text] : session.options.set)
      if (std::find(declared.configs.begin(), declared.configs.end(), name) != declared.configs.end()) {
        sets.push_back({name, session.parseOption(name, text)});
      } else {
        auto *mistake = session.error("T0108", model.name.range, model.name.text + " has no config " + name + " to set");
        std::string near = nearest(name, declared.configs);
        if (mistake && !near.empty())
          mistake->notes.push_back({"help", "did you mean " + near + "?"});
        bad = true;
      }
    reportRepeated(session.options.recipeBind, "--bind-recipe");
    for (auto &[name, value] : session.options.bind)
      binds[name] = size(name, value);
    for (auto &[name, value] : session.options.recipeBind)
      stepBinds[name] = size(name, value);
    stepBinds.insert(binds.begin(), binds.end());
    for (auto *recipe : session.recipes)
      if (recipe->kind != ast::Recipe::Kind::Names && recipe->owner.text == model.name.text)
        recipes.push_back(recipe);
  }

  std::optional<Program> program() {
    Program program;
    program.model = model.name.text;
    for (auto &statement : model.body)
      if (statement->kind == ast::Stmt::Kind::Dim)
        program.dims.push_back(statement->name.text);
    const ast::Recipe *train = nullptr;
    if (!session.options.recipe.empty() && !(train = findRecipe()))
      return std::nullopt;
    NameTables tables = readNameTables(session);
    RecipeBinds own;
    RecipeContext chosen = context({}, {}, tables);
    if (train)
      own = checkBinds(*train, chosen, session.diagnostics);
    auto trainSets = withConfigs(own);
    auto trainBinds = stepBinds;
    for (auto &[name, value] : own.dims)
      if (!session.options.lossesOnly)
        trainBinds.try_emplace(name, value); // --bind wins over the recipe
    for (auto *recipe : recipes) {
      RecipeBinds each = recipe == train ? own : checkBinds(*recipe, chosen, session.diagnostics);
      CheckedRecipe checked = checkRecipe(*recipe, context(withConfigs(each), each.dims, tables), session.diagnostics);
      if (recipe == train) {
        RecipeContext full = context(trainSets, trainBinds, tables);
        program.lossWeights = lossWeights(checked, full);
      }
      program.recipes.push_back(std::move(checked));
    }
    if (bad || session.diagnostics.hasErrors())
      return failAfterChecking(trainSets, trainBinds);

    if (!requests(program, train, trainSets, trainBinds))
      return std::nullopt;
    for (auto &recipe : program.recipes)
      for (auto &entry : program.entries)
        if (isFor(recipe, entry))
          checkGenerate(recipe, trainSets);
    for (auto &entry : program.entries)
      adoptParameters(session, program, entry);
    program.sites = session.sites;
    publish(session, program, tables);
    if (train) {
      evaluateAll(trainSets, trainBinds, false);
      for (auto &recipe : program.recipes)
        if (recipe.kind == "train" && recipe.name == train->name.text) {
          program.policies =
              resolvePolicies(recipe, allParameters(), context(trainSets, trainBinds, tables), session.diagnostics);
          for (auto &entry : program.entries)
            if (entry.kind == Entry::Kind::Train)
              tasks.checkStep(recipe, entry, program.lossWeights, program.policies,
                              [&](uint32_t index) { return program.params[index].path; });
          for (auto &entry : program.entries)
            addLayers(entry, layers);
          program.computeOf = resolveExceptions(recipe, allParameters(), allLayers(), context(trainSets, trainBinds, tables),
                                                session.diagnostics);
          reportUnsupported(recipe, session.diagnostics);
        }
    }
    for (auto &entry : program.entries)
      if (session.options.gradient && !train && entry.kind == Entry::Kind::Eval)
        checkReach(session, model, {}, entry, {}, {}, [](uint32_t) { return ""; });
    if (session.diagnostics.hasErrors())
      return std::nullopt;
    return program;
  }

  /// Everything of the model in both modes; for `tenon check`.
  void everything() {
    NameTables tables = readNameTables(session);
    Program all;
    all.model = model.name.text;
    session.parameters.clear(); // those of another model of the file
    session.parameterByPath.clear();
    evaluateAll(sets, binds, true, &all);
    publish(session, all, tables);
    std::vector<Diagnostics> refusals, generation; // of each block to train, to generate: errors where none can be followed
    for (auto *recipe : recipes) {
      if (!session.mayGoOn())
        return;
      RecipeContext names = context({}, {}, tables);
      RecipeBinds bound = checkBinds(*recipe, names, session.diagnostics);
      auto recipeSets = withConfigs(bound);
      auto full = context(recipeSets, bound.dims, tables);
      CheckedRecipe checked = checkRecipe(*recipe, full, session.diagnostics);
      Diagnostics elsewhere, *own = &elsewhere;
      if (recipe->range.file == session.mainFile->file) // others: the business of their own file
        own = &(recipe->kind == ast::Recipe::Kind::Train ? refusals : generation).emplace_back();
      reportUnsupported(checked, *own);
      if (session.diagnostics.hasErrors())
        continue;
      if (recipe->kind != ast::Recipe::Kind::Train) {
        checkGenerate(checked, sets);
        continue;
      }
      for (const EntryRequest &request :
           tasks.trainRequests(checked, lossWeights(checked, full), losses(Entry::Kind::Train, true, recipeSets, bound.dims))) {
        auto entry = tasks.runTrain(checked, request);
        if (!entry)
          continue;
        auto policies = resolvePolicies(checked, allParameters(), full, session.diagnostics);
        addLayers(*entry, layers);
        resolveExceptions(checked, allParameters(), allLayers(), full, session.diagnostics);
        tasks.checkStep(checked, *entry, lossWeights(checked, full), policies,
                        [&](uint32_t index) { return session.parameters[index].param.path; });
        Diagnostics mistakes;
        cut(checked, std::move(*entry), request, mistakes);
        for (const Diagnostic &mistake : mistakes.all())
          (mistake.code == "T0690" ? *own : session.diagnostics).report(mistake);
      }
    }
    reportRefusals(refusals);
    reportRefusals(generation);
  }

private:
  using Sets = std::vector<std::pair<std::string, ast::ExprPtr>>;
  using Binds = std::map<std::string, int64_t>;
  Session &session;
  const ast::Model &model;
  Declared declared;
  TaskEntries tasks;
  Sets sets;
  Binds binds, stepBinds; // stepBinds: of the entries eval and train, without what the recipe binds
  std::vector<const ast::Recipe *> recipes;
  std::map<std::string, LayerPath> layers; // of every entry evaluated so far that contract
  bool bad = false;

  /// Of blocks of one kind: a file of several is right while one of them can be followed.
  void reportRefusals(const std::vector<Diagnostics> &refusals) {
    const bool isWayLeft =
        std::any_of(refusals.begin(), refusals.end(), [](const Diagnostics &refusal) { return !refusal.hasErrors(); });
    for (const Diagnostics &refusal : refusals)
      for (Diagnostic mistake : refusal.all()) {
        if (isWayLeft)
          mistake.severity = Diagnostic::Severity::Warning;
        session.later.report(mistake);
      }
  }

  int64_t size(const std::string &name, int64_t value) {
    if (value < 1) {
      session.error("T0209", model.name.range, "a dim is at least 1, " + name + " = " + std::to_string(value));
      bad = true;
    }
    return value;
  }

  const ast::Recipe *findRecipe() {
    std::vector<std::string> names;
    for (auto *recipe : recipes)
      if (recipe->kind == ast::Recipe::Kind::Train) {
        if (recipe->name.text == session.options.recipe)
          return recipe;
        names.push_back(recipe->name.text);
      }
    auto *mistake = session.error("T0624", model.name.range,
                                  "there is no recipe: train " + model.name.text + " as " + session.options.recipe);
    if (mistake) {
      std::string near = nearest(session.options.recipe, names), all;
      for (auto &name : names)
        all += (all.empty() ? "" : ", ") + name;
      mistake->notes.push_back({"help", !near.empty() ? "did you mean " + near + "?"
                                        : all.empty() ? "this file has no train block for it"
                                                      : "its recipes: " + all});
    }
    return nullptr;
  }
  template <class T> void reportRepeated(const std::vector<std::pair<std::string, T>> &given, const char *option) {
    std::set<std::string> seen, reported;
    for (auto &[name, value] : given)
      if (!seen.insert(name).second && reported.insert(name).second) {
        session.error("T0113", model.name.range, std::string(option) + " gives " + name + " twice; once is enough");
        bad = true;
      }
  }
  static bool isFor(const CheckedRecipe &recipe, const Entry &entry) {
    const Setting *name = recipe.kind == "generate" ? recipe.find("entry") : nullptr;
    return name && entry.kind == Entry::Kind::Out && name->text == entry.name;
  }
  void checkGenerate(const CheckedRecipe &recipe, const Sets &useSets) {
    EntryRequest request = losses(Entry::Kind::Out, false, useSets, binds);
    if (const Setting *name = recipe.find("entry"))
      request.name = name->text;
    if (auto entry = Checker(session, model, request).run(); entry && isFor(recipe, *entry))
      checkGeneration(recipe, *entry, session.diagnostics);
  }
  /// --set first: it wins over the configs that a recipe binds.
  Sets withConfigs(const RecipeBinds &own) const {
    Sets all = sets;
    for (auto &config : own.configs)
      if (std::none_of(sets.begin(), sets.end(), [&](auto &set) { return set.first == config.first; }))
        all.push_back(config);
    return all;
  }
  RecipeContext context(const Sets &recipeSets, const Binds &recipeBinds, const NameTables &tables) {
    RecipeContext context;
    context.model = model.name.text;
    context.dims = declared.dims;
    context.configs = declared.configs;
    context.losses = declared.losses;
    context.metrics = declared.metrics;
    context.outs = declared.outs;
    context.inputs = declared.inputs;
    context.schemes = tables.schemes();
    context.spend = [this](ast::Range place, uint64_t units) { return session.spend(place, units); };
    auto checker = std::make_shared<std::unique_ptr<Checker>>();
    context.evaluate = [this, recipeSets, recipeBinds, checker](const ast::ExprPtr &expression,
                                                                std::optional<int64_t> depth) -> SettingValue {
      if (!*checker) {
        EntryRequest request = losses(Entry::Kind::Eval, false, recipeSets, recipeBinds);
        *checker = std::make_unique<Checker>(session, model, request);
      }
      Value value = (*checker)->evaluateConstant(expression, depth);
      if (value.isPoison())
        return nullptr;
      SettingValue setting = settingOf(value, expression->range);
      if (!setting)
        session.error("T0309", expression->range, "a setting must be a number, a truth value or a text known at compile time");
      return setting;
    };
    return context;
  }

  /// Of every entry evaluated so far: a glob of a recipe may name parameters that its own step does not reach.
  std::vector<Param> allParameters() const {
    std::vector<Param> params;
    for (auto &record : session.parameters)
      params.push_back(record.param);
    return params;
  }
  std::vector<LayerPath> allLayers() const {
    std::vector<LayerPath> all;
    for (auto &[path, layer] : layers)
      all.push_back(layer);
    return all;
  }
  EntryRequest losses(Entry::Kind kind, bool training, const Sets &useSets, const Binds &useBinds) {
    EntryRequest request;
    request.kind = kind;
    request.name = kind == Entry::Kind::Train ? "train" : "eval";
    request.training = training;
    request.sets = useSets;
    request.binds = useBinds;
    request.metrics = kind == Entry::Kind::Eval && !session.options.lossesOnly && !session.options.gradient;
    return request;
  }
  bool hasEval() const { return !declared.losses.empty() || (!declared.metrics.empty() && !session.options.gradient); }
  bool wanted(const std::string &name) const {
    const auto &entries = session.options.entries;
    return entries.empty() || std::find(entries.begin(), entries.end(), name) != entries.end();
  }
  bool requests(Program &program, const ast::Recipe *train, const Sets &useSets, const Binds &trainBinds) {
    for (auto &name : session.options.entries) {
      std::vector<std::string> known = declared.outs;
      if (hasEval())
        known.push_back("eval");
      if (train)
        known.push_back("train");
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        std::string near = nearest(name, known);
        auto *mistake = session.error("T0111", model.name.range, model.name.text + " has no entry " + name);
        std::string names;
        for (auto &each : known)
          names += (names.empty() ? "" : ", ") + each;
        if (mistake)
          mistake->notes.push_back(
              {"help", near.empty() ? "there are: " + (names.empty() ? "none" : names) : "did you mean " + near + "?"});
        return false;
      }
    }
    bool ok = true;
    auto build = [&](const EntryRequest &request) {
      ok &= session.mayGoOn();
      if (session.mayGoOn()) // also behind an entry with a mistake
        add(program, Checker(session, model, request).run(), ok);
    };
    auto ofRecipe = [&](const EntryRequest &request) { return tasks.ofLosses(request, program.lossWeights); };
    if (session.options.lossesOnly) {
      build(ofRecipe(losses(Entry::Kind::Eval, false, useSets, trainBinds)));
      return ok;
    }
    auto checked = std::find_if(program.recipes.begin(), program.recipes.end(), [&](const CheckedRecipe &recipe) {
      return train && recipe.kind == "train" && recipe.name == train->name.text;
    });
    if (checked != program.recipes.end() && checked->find("tasks"))
      return requestTasks(program, *checked, useSets, trainBinds);
    for (const EntryRequest &request : outRequests(useSets))
      build(request);
    if (hasEval() && wanted("eval"))
      build(losses(Entry::Kind::Eval, false, useSets, trainBinds));
    if (train && wanted("train")) {
      build(ofRecipe(losses(Entry::Kind::Train, true, useSets, trainBinds)));
      if (ok) {
        auto part = cut(*checked, std::move(program.entries.back()),
                        ofRecipe(losses(Entry::Kind::Train, true, useSets, trainBinds)), session.diagnostics);
        program.entries.pop_back();
        if (part)
          program.entries.insert(program.entries.end(), part->begin(), part->end());
        ok = part.has_value();
      }
    }
    if (ok && program.entries.empty()) {
      session.error("T0413", model.name.range,
                    model.name.text + (session.options.gradient && !declared.metrics.empty()
                                           ? " has no `loss`, and a metric has no gradient"
                                           : " demands nothing: it has no `out`, `loss` or `metric`"));
      ok = false;
    }
    return ok;
  }
  std::vector<EntryRequest> outRequests(const Sets &useSets) {
    std::vector<EntryRequest> requests;
    for (auto &out : declared.outs)
      if (wanted(out)) {
        requests.push_back(losses(Entry::Kind::Out, false, useSets, binds));
        requests.back().name = out;
      }
    return requests;
  }
  /// Of a recipe with tasks: a step and an evaluation for each, over parameters that they share.
  bool requestTasks(Program &program, const CheckedRecipe &recipe, const Sets &useSets, const Binds &useBinds) {
    bool ok = tasks.canBeMade(recipe);
    for (const EntryRequest &request : outRequests(useSets))
      add(program, Checker(session, model, request).run(), ok);
    for (const RecipeTask &task : tasksOf(recipe))
      if (wanted("eval") && session.mayGoOn())
        add(program, tasks.runEval(task, losses(Entry::Kind::Eval, false, useSets, useBinds)), ok);
    for (const EntryRequest &request : tasks.trainRequests(recipe, {}, losses(Entry::Kind::Train, true, useSets, useBinds)))
      if (wanted("train") && session.mayGoOn())
        add(program, tasks.runTrain(recipe, request), ok);
    return ok;
  }
  void add(Program &program, std::optional<Entry> entry, bool &ok) {
    ok &= entry && session.mayGoOn();
    if (entry && !entry->walkedAxis.empty())
      return addWalk(program, *entry, ok);
    if (entry && session.options.attentionMaps && entry->kind != Entry::Kind::Train)
      keepAttentionMaps(*entry);
    if (entry)
      program.entries.push_back(std::move(*entry));
  }
  /// The entries that `entry`, which walks an axis, becomes.
  void addWalk(Program &program, const Entry &entry, bool &ok) {
    auto entries = deriveStep(entry, session.diagnostics);
    if (!entries) {
      ok = false;
      return;
    }
    program.entries.push_back(std::move(entries->step));
    if (entries->prepare)
      program.entries.push_back(std::move(*entries->prepare));
  }
  /// The train entry of a recipe for one of its slices; `tenon grad` takes the batch as a whole.
  std::optional<std::vector<Entry>> cut(const CheckedRecipe &recipe, Entry entry, const EntryRequest &asked, Diagnostics &found) {
    if (session.options.gradient)
      return std::vector<Entry>{std::move(entry)};
    return cutSlices(
        recipe, std::move(entry), asked.binds,
        [&](const Binds &useBinds) {
          EntryRequest smaller = asked;
          smaller.binds = useBinds;
          return Checker(session, model, smaller).run();
        },
        found);
  }
  /// Outs and losses, for their mistakes only.
  void evaluateAll(const Sets &useSets, const Binds &useBinds, bool bothModes, Program *reached = nullptr) {
    auto run = [&](const EntryRequest &request) {
      auto entry = Checker(session, model, request).run();
      if (entry)
        addLayers(*entry, layers);
      if (entry && reached) {
        adoptParameters(session, *reached, *entry);
        reportUnsupported(*entry, session.later);
      }
      return entry;
    };
    for (auto &out : declared.outs) {
      if (!session.mayGoOn())
        return;
      EntryRequest request = losses(Entry::Kind::Out, false, useSets, useBinds);
      request.name = out;
      auto entry = run(request);
      if (entry && !entry->walkedAxis.empty() && !session.diagnostics.hasErrors())
        deriveStep(*entry, session.diagnostics); // for what it cannot do yet
    }
    run(losses(Entry::Kind::Eval, false, useSets, useBinds));
    if (bothModes)
      run(losses(Entry::Kind::Train, true, useSets, useBinds));
    if (useSets.empty())
      Checker(session, model, losses(Entry::Kind::Eval, false, useSets, useBinds)).runUnused();
  }
  std::nullopt_t failAfterChecking(const Sets &useSets, const Binds &useBinds) {
    if (!bad)
      evaluateAll(useSets, useBinds, false);
    return std::nullopt;
  }
};

} // namespace

std::optional<Program> programOf(Session &session, const ast::Model &model) { return ModelCheck(session, model).program(); }

void checkEverything(Session &session, const ast::Model &model) { ModelCheck(session, model).everything(); }

} // namespace tenon::sema
