#include "frontend/sema/models/ModelCheck.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/ComputeTypes.h"
#include "frontend/graph/Supported.h"
#include "frontend/names/NameOwners.h"
#include "frontend/names/Publish.h"
#include "frontend/recipes/Recipes.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/models/ConstantSetting.h"
#include "frontend/sema/models/ModelEntries.h"
#include "frontend/sema/models/Reach.h"
#include "frontend/walk/Step.h"
#include "frontend/walk/Walk.h"
#include <algorithm>
#include <set>

namespace tenon::sema {
namespace {

class ModelCheck {
public:
  ModelCheck(Session &session, const ast::Model &model)
      : session(session), model(model), declared(model), tasks(session, model, declared),
        entries(session, model, declared, tasks, binds) {
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
    std::vector<const ast::Recipe *> inOrder = session.recipes; // those of the file itself first: the first ones are the defaults
    std::stable_partition(inOrder.begin(), inOrder.end(),
                          [&](const ast::Recipe *recipe) { return recipe->name.range.file == session.mainFile->file; });
    for (auto *recipe : inOrder)
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
    const Binds settingBinds = trainBinds;
    openLengths(program, train, trainSets, trainBinds);
    if (bad || session.diagnostics.hasErrors())
      return failAfterChecking(trainSets, trainBinds);

    if (!entries.build(program, train, trainSets, trainBinds))
      return std::nullopt;
    for (auto &recipe : program.recipes)
      for (auto &entry : program.entries)
        if (isFor(recipe, entry))
          checkGenerate(recipe, trainSets);
    for (auto &entry : program.entries)
      adoptParameters(session, program, entry);
    program.sites = session.sites;
    publish(session, program, tables, false);
    if (train) {
      evaluateAll(trainSets, trainBinds, false);
      for (auto &recipe : program.recipes)
        if (recipe.kind == "train" && recipe.name == train->name.text)
          followRecipe(program, recipe, context(trainSets, settingBinds, tables));
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
    session.modelStates.clear();
    evaluateAll(sets, binds, true, &all);
    publish(session, all, tables, true);
    knowFiles(context({}, {}, tables));
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
      EntryRequest base = entries.losses(Entry::Kind::Train, true, recipeSets, bound.dims);
      Diagnostics ofLengths;
      (void)tasks.takeLengths(checked, lossWeights(checked, full), base, ofLengths);
      report(ofLengths, *own);
      for (EntryRequest &request : tasks.trainRequests(checked, lossWeights(checked, full), base)) {
        auto entry = tasks.runTrain(checked, request);
        if (!entry)
          continue;
        auto policies = resolvePolicies(checked, allParameters(), full, session.diagnostics);
        addLayers(*entry, layers);
        resolveExceptions(checked, allParameters(), allLayers(), full, session.diagnostics);
        const auto pathOf = [&](uint32_t index) { return session.parameters[index].param.path; };
        tasks.checkStep(checked, *entry, lossWeights(checked, full), policies, pathOf);
        Diagnostics mistakes;
        entries.cut(checked, std::move(*entry), request, mistakes);
        report(mistakes, *own);
      }
      if (!session.diagnostics.hasErrors())
        tasks.checkEvaluations(checked, lossWeights(checked, full),
                               entries.losses(Entry::Kind::Eval, false, recipeSets, base.binds));
    }
    reportRefusals(refusals);
    reportRefusals(generation);
  }

private:
  Session &session;
  const ast::Model &model;
  Declared declared;
  TaskEntries tasks;
  Sets sets;
  Binds binds, stepBinds; // stepBinds: of the entries eval and train, without what the recipe binds
  ModelEntries entries;
  std::vector<const ast::Recipe *> recipes;
  std::map<std::string, LayerPath> layers; // of every entry evaluated so far that contract
  bool bad = false;

  /// What any recipe takes from files; mistakes of recipes are said elsewhere.
  void knowFiles(const RecipeContext &names) {
    std::vector<CheckedRecipe> all;
    Diagnostics unsaid;
    for (auto *recipe : recipes)
      all.push_back(checkRecipe(*recipe, names, unsaid));
    tasks.knowFiles(all);
  }

  /// Sizes that batches by length choose stay open in the entries of the recipe.
  void openLengths(Program &program, const ast::Recipe *train, const Sets &trainSets, Binds &trainBinds) {
    for (auto &recipe : program.recipes)
      if (train && recipe.kind == "train" && recipe.name == train->name.text && !bad && !session.diagnostics.hasErrors()) {
        EntryRequest base = entries.losses(Entry::Kind::Train, true, trainSets, trainBinds);
        recipe.greatest = tasks.takeLengths(recipe, program.lossWeights, base, session.diagnostics);
        trainBinds = base.binds;
      }
  }

  /// What the recipe to compile says of parameters and layers.
  void followRecipe(Program &program, const CheckedRecipe &recipe, const RecipeContext &of) {
    program.policies = resolvePolicies(recipe, allParameters(), of, session.diagnostics);
    const auto pathOf = [&](uint32_t index) { return program.params[index].path; };
    for (auto &entry : program.entries)
      if (entry.kind == Entry::Kind::Train)
        tasks.checkStep(recipe, entry, program.lossWeights, program.policies, pathOf);
    for (auto &entry : program.entries)
      addLayers(entry, layers);
    program.computeOf = resolveExceptions(recipe, allParameters(), allLayers(), of, session.diagnostics);
    const NumericsPolicy types = numericsOf(&recipe);
    if (isWideReal(types.compute) && !types.isDouble()) // no type of a module: operands are converted where they are multiplied
      program.computeOf.emplace(kEveryPath, types.compute);
    reportUnsupported(recipe, session.diagnostics);
  }

  /// What is not supported yet goes to the recipe's `own` mistakes.
  void report(const Diagnostics &mistakes, Diagnostics &own) {
    for (const Diagnostic &mistake : mistakes.all())
      (mistake.code == "T0690" ? own : session.diagnostics).report(mistake);
  }

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
    EntryRequest request = entries.losses(Entry::Kind::Out, false, useSets, binds);
    if (const Setting *name = recipe.find("entry"))
      request.name = name->text;
    if (auto entry = Checker(session, model, request).run(); entry && isFor(recipe, *entry))
      checkGeneration(recipe, *entry, entry->walkedAxis.empty() ? nullptr : goesOnFromLastPlace(*entry), session.diagnostics);
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
        EntryRequest request = entries.losses(Entry::Kind::Eval, false, recipeSets, recipeBinds);
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
  /// Outs and losses, for their mistakes only.
  void evaluateAll(const Sets &useSets, const Binds &useBinds, bool bothModes, Program *reached = nullptr) {
    auto run = [&](const EntryRequest &request) {
      auto entry = Checker(session, model, request).run();
      if (entry)
        addLayers(*entry, layers);
      if (entry && reached) {
        adoptParameters(session, *reached, *entry);
        reportUnsupported(*entry, session.later);
        warnOfWideNumbers(*entry, session.diagnostics);
      }
      return entry;
    };
    for (auto &out : declared.outs) {
      if (!session.mayGoOn())
        return;
      EntryRequest request = entries.losses(Entry::Kind::Out, false, useSets, useBinds);
      request.name = out;
      auto entry = run(request);
      if (entry && !entry->walkedAxis.empty() && !session.diagnostics.hasErrors())
        deriveStep(*entry, session.diagnostics); // for what it cannot do yet
    }
    run(entries.losses(Entry::Kind::Eval, false, useSets, useBinds));
    if (bothModes)
      run(entries.losses(Entry::Kind::Train, true, useSets, useBinds));
    if (useSets.empty())
      Checker(session, model, entries.losses(Entry::Kind::Eval, false, useSets, useBinds)).runUnused();
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
