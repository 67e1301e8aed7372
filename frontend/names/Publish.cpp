#include "frontend/names/Publish.h"
#include <algorithm>
#include <map>
#include <set>

namespace tenon::sema {

constexpr uint64_t kElementsPerUnit = 128; // of work, marked

/// The elements of a stacked parameter that a body reads: those of its depths, and of the depths of the stacks that it belongs
/// to.
static void markPresent(Param &param, const Entry &entry, uint32_t body) {
  std::vector<BodyDepths> bodies;
  for (; body < entry.stacks.size(); body = entry.stacks[body].owner)
    bodies.insert(bodies.begin(), depthsOf(entry.stacks, body));
  size_t elements = 1;
  for (int64_t count : param.stackCounts)
    elements *= size_t(count);
  param.present.resize(elements);
  for (size_t i = 0; i < elements; ++i) {
    bool inside = true;
    size_t rest = i;
    for (size_t level = param.stackCounts.size(); level-- > 0; rest /= size_t(param.stackCounts[level])) {
      inside &= level >= bodies.size() || bodies[level].contains(int64_t(rest) % param.stackCounts[level]);
    }
    if (inside)
      param.present[i] = true;
  }
}

void adoptParameters(Session &session, Program &program, Entry &entry) {
  for (Node &node : entry.nodes) {
    if (node.op != Op::Param)
      continue;
    const ParameterRecord &record = session.parameters[node.index];
    auto found = std::find_if(program.params.begin(), program.params.end(),
                              [&](const Param &param) { return param.path == record.param.path; });
    if (found == program.params.end()) {
      program.params.push_back(record.param);
      found = program.params.end() - 1;
    }
    node.index = uint32_t(found - program.params.begin());
    uint64_t elements = 1;
    for (int64_t count : found->stackCounts)
      elements *= uint64_t(count);
    if (!session.spend(found->range, elements / kElementsPerUnit))
      return;
    markPresent(*found, entry, node.stack);
  }
}

namespace {

/// A public name is one tensor of a file, or one part of it. Two parameters of one name are a mistake if a table gives it to
/// both; a scheme for a part of a model (one of several published files) leaves the names of the rest as they are, and they may
/// be the same. Copies are only read, so that any number may have the name; but somebody has to write it.
class Published {
public:
  Published(std::string scheme, Diagnostics &diagnostics) : scheme(std::move(scheme)), diagnostics(diagnostics) {}
  void add(const std::string &path, const PublicName &name, const std::vector<UsedRule> &rules) {
    if (name.copy) {
      copies.push_back({path, name, rules});
      return;
    }
    std::vector<Holder> &holders = byName[name.name];
    for (const Holder &other : holders) {
      bool apart = name.transform == "part" && other.name.transform == "part" && name.parts == other.name.parts &&
                   name.part != other.name.part;
      size_t k = 0; // the first rule in which the two differ; none: the outermost makes them equal
      while (k < rules.size() && k < other.rules.size() && same(rules[k].place, other.rules[k].place))
        ++k;
      const bool equal = k == rules.size() && k == other.rules.size();
      if (apart || rules.empty() ||
          (!equal && (k == rules.size() || k == other.rules.size() || !same(rules[k].table, other.rules[k].table))))
        continue;
      ast::Range place = rules[equal ? 0 : k].place;
      if (!reported.insert({place.file, place.begin}).second)
        continue;
      Diagnostic &mistake = diagnostics.error(
          "T0657", place, "`" + scheme + "` gives " + other.path + " and " + path + " one name, `" + name.name + "`",
          "a name of two parameters");
      if (!equal)
        mistake.related.push_back({other.rules[k].place, "the other one"});
      else
        mistake.notes.push_back({"help", "a * in the name is what the pattern's * stands for, as in \"f.*\" = \"dense.*\""});
      mistake.notes.push_back({"help",
                               "a parameter that only starts from the tensor of another one, a frozen reference, is copy(..) "
                               "of that name, which is read and not written"});
    }
    holders.push_back({path, name, rules});
  }

  /// Copies of what nobody writes, where everything that the model has was added.
  void reportOrphans() {
    for (const Holder &copy : copies) {
      const auto rule = std::find_if(copy.rules.begin(), copy.rules.end(), [](const UsedRule &each) { return each.copies; });
      const ast::Range place = rule->place;
      if (isWritten(copy.name.name) || !reported.insert({place.file, place.begin}).second)
        continue;
      diagnostics
          .error("T0657", place, "in `" + scheme + "` nothing writes `" + copy.name.name + "`, which " + copy.path + " copies",
                 "copied, but nobody's")
          .notes.push_back({"help", "one of those that read a tensor has its name without copy(..), and writes it"});
    }
  }

private:
  struct Holder {
    std::string path;
    PublicName name;
    std::vector<UsedRule> rules;
  };
  /// Also one of the tensors of a stack, or the stack of those.
  bool isWritten(const std::string &name) const {
    std::string first = name;
    std::replace(first.begin(), first.end(), '#', '0');
    bool found = byName.count(name) || byName.count(first);
    const char *const digits = "0123456789";
    for (size_t at = 0, end = 0; !found && (at = name.find_first_of(digits, end)) != std::string::npos;) {
      end = std::min(name.find_first_not_of(digits, at), name.size());
      found = byName.count(name.substr(0, at) + "#" + name.substr(end)) > 0;
    }
    return found;
  }
  static bool same(ast::Range a, ast::Range b) { return a.file == b.file && a.begin == b.begin; }
  std::string scheme;
  Diagnostics &diagnostics;
  std::map<std::string, std::vector<Holder>> byName;
  std::vector<Holder> copies;
  std::set<std::pair<uint32_t, uint32_t>> reported; // rules
};

/// Path of one element: every * is its index in one stack.
std::string pathOf(const std::string &stacked, const std::vector<int64_t> &stackCounts, size_t element) {
  std::vector<std::string> indices(stackCounts.size());
  for (size_t level = indices.size(); level-- > 0; element /= size_t(stackCounts[level]))
    indices[level] = std::to_string(element % size_t(stackCounts[level]));
  std::string path;
  size_t level = 0;
  for (char c : stacked)
    path += c == '*' && level < indices.size() ? indices[level++] : std::string(1, c);
  return path;
}

std::vector<UseStep> chainOf(const std::vector<PathStep> &steps) {
  std::vector<UseStep> chain;
  for (const PathStep &step : steps)
    chain.push_back({step.layer, step.use, step.count.has_value()});
  return chain;
}

/// States of the model have the names of parameters (running statistics of a batch norm), but each is a tensor of its own.
std::vector<PublicName> stateNames(Session &session, const NameTables &tables, const std::string &model, const std::string &path,
                                   const StatePath &state, const std::string &scheme, Published &published) {
  std::vector<std::vector<UsedRule>> rules;
  const std::vector<PublicName> given =
      tables.publicNames(scheme, model, chainOf(state.steps), state.leaf, state.stackCounts, &rules);
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string own = pathOf(path, state.stackCounts, i);
    if (!given[i].transform.empty())
      session.diagnostics.error("T0659", rules[i].back().place,
                                "`" + scheme + "` has no tensor for the state " + own + ", only `" + given[i].transform +
                                    "` of " + given[i].name,
                                "a state of the model is a tensor of its own");
    published.add(own, given[i], rules[i]);
  }
  return given;
}

} // namespace

void publish(Session &session, Program &program, const NameTables &tables, bool isWhole) {
  std::map<std::string, Published> published;
  for (auto &scheme : tables.schemes())
    published.try_emplace(scheme, scheme, session.diagnostics);
  for (Param &param : program.params) {
    if (std::find(param.present.begin(), param.present.end(), false) == param.present.end())
      param.present.clear();
    const ParameterRecord &record = session.parameters[session.parameterByPath.at(param.path)];
    const std::vector<UseStep> chain = chainOf(record.steps);
    uint64_t elements = published.size(); // of the parameter, each with a name per scheme
    for (int64_t count : param.stackCounts)
      elements = __builtin_mul_overflow(elements, uint64_t(count), &elements) ? UINT64_MAX / 4 : elements;
    if (!session.spend(param.range, 2 * elements))
      return;
    for (auto &[scheme, names] : published) {
      std::vector<std::vector<UsedRule>> rules;
      param.publicNames[scheme] = tables.publicNames(scheme, program.model, chain, record.leaf, param.stackCounts, &rules);
      for (size_t i = 0; i < rules.size(); ++i)
        if (param.present.empty() || param.present[i])
          names.add(pathOf(param.path, param.stackCounts, i), param.publicNames[scheme][i], rules[i]);
    }
  }
  for (const auto &[path, state] : session.modelStates)
    for (auto &[scheme, names] : published) {
      const std::vector<PublicName> given = stateNames(session, tables, program.model, path, state, scheme, names);
      for (Entry &entry : program.entries)
        for (State &each : entry.states)
          if (each.path == path)
            each.publicNames[scheme] = given;
    }
  for (auto &[scheme, names] : published)
    if (isWhole) // else the others may be in an artifact of their own
      names.reportOrphans();
}

} // namespace tenon::sema
