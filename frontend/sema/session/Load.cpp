// Files of one compilation: std.tn, the main file, its imports; each once. Imports never leave the folder of the importing file
// or a root.
#include "frontend/sema/session/Session.h"
#include "frontend/syntax/Parse.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenon::sema {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> readFile(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}
bool climbs(const fs::path &path) {
  int depth = 0;
  for (auto &part : path)
    if (part == "..") {
      if (--depth < 0)
        return true;
    } else if (part != ".") {
      ++depth;
    }
  return path.is_absolute();
}

/// Random places in the order of the text: calls of dropout and sample, and every attend (whose `drop` may draw).
class SiteCollector {
public:
  std::vector<std::pair<uint32_t, uint32_t>> places;
  void statements(const std::vector<ast::StmtPtr> &list) {
    for (auto &statement : list) {
      expression(statement->value);
      expression(statement->count);
      for (auto &value : statement->values)
        expression(value);
      for (auto &argument : statement->arguments)
        expression(argument.value);
      if (statement->callable && !statement->callable->isLayer) // a layer has places of its own
        statements(statement->callable->body);
    }
  }

private:
  void expression(const ast::ExprPtr &node) {
    if (!node)
      return;
    if (node->kind == ast::Expr::Kind::Call || node->kind == ast::Expr::Kind::Attend)
      places.push_back({node->range.begin, node->range.end});
    for (auto &operand : node->operands)
      expression(operand);
    for (auto &op : node->axisOps) {
      expression(op.low);
      expression(op.high);
    }
    for (auto &argument : node->arguments)
      expression(argument.value);
    for (auto &item : node->items)
      expression(item.value);
    statements(node->body);
  }
};

} // namespace

bool Session::loadFile(const std::string &path, std::optional<ast::Range> from) {
  std::error_code ignored;
  std::string canonical = fs::weakly_canonical(path, ignored).string();
  if (loaded.count(canonical))
    return true;
  auto text = readFile(path);
  if (!text) {
    error("T0112", from.value_or(ast::Range{}), "cannot read " + path);
    return false;
  }
  uint32_t file = uint32_t(sources.files.size());
  sources.files.push_back({path, *text});
  loaded[canonical] = file;
  auto tree = std::make_shared<ast::File>(parse(sources, file, diagnostics));
  trees.push_back(tree);
  bool ok = true;
  for (auto &item : tree->items)
    if (item.kind == ast::Item::Kind::Import)
      ok &= loadImport(item.import, path);
  for (auto &item : tree->items)
    declare(item, canonical == standardPath);
  return ok;
}

bool Session::loadImport(const ast::Import &import, const std::string &importer) {
  fs::path wanted = import.path;
  if (climbs(wanted)) {
    error("T0109", import.range, "an import never leaves its folder: \"" + import.path + "\" starts above it");
    return false;
  }
  std::vector<fs::path> folders = {fs::path(importer).parent_path()};
  folders.insert(folders.end(), options.modelRoots.begin(), options.modelRoots.end());
  std::error_code ignored;
  for (auto &folder : folders)
    if (fs::is_regular_file(folder / wanted, ignored))
      return loadFile((folder / wanted).string(), import.range);
  if (auto *mistake = error("T0109", import.range, "cannot find \"" + import.path + "\"")) {
    std::string list;
    for (auto &folder : folders)
      list += (list.empty() ? "" : ", ") + (folder.empty() ? std::string(".") : folder.string());
    mistake->notes.push_back({"note", "looked in " + list});
  }
  return false;
}

void Session::declare(const ast::Item &item, bool ofLibrary) {
  auto unique = [&](const ast::Name &name) {
    auto [first, isNew] = (ofLibrary ? declaredInLibrary : declared).try_emplace(name.text, name.range);
    if (!isNew)
      if (auto *mistake = error("T0103", name.range, name.text + " is declared twice", "second declaration"))
        mistake->related.push_back({first->second, "first declaration"});
    return isNew;
  };
  if (item.kind == ast::Item::Kind::Callable && unique(item.callable->name))
    (ofLibrary ? library : callables)[item.callable->name.text] = item.callable.get();
  if (item.kind == ast::Item::Kind::Model && unique(item.model->name))
    models[item.model->name.text] = item.model.get();
  if (item.kind == ast::Item::Kind::Recipe)
    recipes.push_back(item.recipe.get());
}

bool Session::load() {
  size_t before = diagnostics.all().size();
  std::string standard;
  std::error_code ignored;
  std::vector<std::string> folders = options.modelRoots;
  folders.push_back(fs::path(options.path).parent_path().string());
  for (auto &root : folders)
    if (standard.empty() && fs::is_regular_file(fs::path(root) / "std.tn", ignored))
      standard = (fs::path(root) / "std.tn").string();
  for (auto &folder : folders)
    if (standard.empty())
      standardSought += (standardSought.empty() ? "" : ", ") + (folder.empty() ? std::string(".") : folder);
  if (!standard.empty() && fs::weakly_canonical(standard, ignored) != fs::weakly_canonical(options.path, ignored))
    standardPath = fs::weakly_canonical(standard, ignored).string();
  bool ok = standard.empty() || loadFile(standard, std::nullopt);
  ok &= loadFile(options.path, std::nullopt);
  std::string canonical = fs::weakly_canonical(options.path, ignored).string();
  for (auto &tree : trees)
    if (loaded.count(canonical) && tree->file == loaded[canonical])
      mainFile = tree.get();
  for (size_t i = before; i < diagnostics.all().size(); ++i)
    ok &= diagnostics.all()[i].severity != Diagnostic::Severity::Error;
  return ok && mainFile;
}

unsigned Session::siteOrdinal(const std::vector<ast::StmtPtr> &body, ast::Range place) {
  auto [list, isNew] = sitesOfBody.try_emplace(&body);
  if (isNew) {
    SiteCollector collector;
    collector.statements(body);
    std::sort(collector.places.begin(), collector.places.end());
    list->second = collector.places;
  }
  auto at = std::find(list->second.begin(), list->second.end(), std::pair(place.begin, place.end));
  if (at != list->second.end())
    return unsigned(at - list->second.begin());
  // Inside a function declared outside this body: its own offset tells it apart.
  return 100000 + place.begin;
}

uint32_t Session::site(const std::string &path) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (unsigned char byte : path)
    hash = (hash ^ byte) * 16777619u;
  for (size_t i = 0; i < sites.size(); ++i)
    if (sites[i].path == path)
      return uint32_t(i);
  for (bool free = false; !free;) {
    free = true;
    for (auto &site : sites)
      if (site.id == hash)
        free = false, ++hash;
  }
  sites.push_back({path, hash});
  return uint32_t(sites.size() - 1);
}

uint32_t Session::parameter(ParameterRecord record) {
  auto [place, isNew] = parameterByPath.try_emplace(record.param.path, uint32_t(parameters.size()));
  if (isNew)
    parameters.push_back(std::move(record));
  return place->second;
}

ast::ExprPtr Session::parseOption(const std::string &name, const std::string &text) {
  auto [place, isNew] = parsedOptions.try_emplace(name + "=" + text);
  if (isNew) {
    uint32_t file = uint32_t(sources.files.size());
    sources.files.push_back({"--set " + name, text});
    place->second = parseExpression(sources, file, diagnostics);
  }
  return place->second;
}

std::vector<const ast::Model *> modelsOf(const Session &session) {
  std::vector<const ast::Model *> models;
  for (auto &item : session.mainFile->items)
    if (item.kind == ast::Item::Kind::Model)
      models.push_back(item.model.get());
  if (!models.empty())
    return models;
  for (auto &item : session.mainFile->items)
    if (item.kind == ast::Item::Kind::Recipe && item.recipe->kind != ast::Recipe::Kind::Names)
      if (auto known = session.models.find(item.recipe->owner.text); known != session.models.end())
        if (std::find(models.begin(), models.end(), known->second) == models.end())
          models.push_back(known->second);
  return models;
}

} // namespace tenon::sema
