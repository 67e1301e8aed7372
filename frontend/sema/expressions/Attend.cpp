// attend(i: T, j: S) { score ... mask ... value ... }: masks first, the rest is evaluated where they hold.
#include "frontend/sema/Checker.h"

namespace tenon::sema {

using ItemKind = ast::AttendItem::Kind;

uint32_t Checker::randomSite(Scope *scope, ast::Range place) {
  ++randomPlaces;
  const std::vector<ast::StmtPtr> *body = scope->frame->body;
  std::string path = scope->frame->path();
  path += (path.empty() ? "" : ".") + std::string("random") + std::to_string(session.siteOrdinal(*body, place));
  unsigned use = siteUses[path]++; // a layer or function called again draws again
  if (use)
    path += "#" + std::to_string(use + 1);
  return session.site(path);
}

/// What an item of an attend may not be; `keyless`: it lacks the key axis, which one of its axes may stand for.
void Checker::refuseItem(const char *code, ast::Range range, const std::string &message, NodeId keyless, AxisId key) {
  auto *mistake = error(code, range, message);
  if (!mistake || keyless == kNoNode)
    return;
  for (AxisId axis : graph.axes(keyless))
    if (graph.size(axis) == graph.size(key))
      mistake->notes.push_back(
          {"help", "keys and values have the key axis: [" + axisName(axis) + " -> " + axisName(key) + "] renames it"});
}

void Checker::attendItem(Scope *scope, const ast::AttendItem &item, AxisId key, AttendParts &parts) {
  Value value = evaluate(scope, item.value);
  if (value.isPoison()) {
    parts.bad = true;
    return;
  }
  ast::Range range = item.value->range;
  std::string name = item.name ? " " + item.name->text : "";
  auto refuse = [&](const char *code, const std::string &message, NodeId keyless = kNoNode) {
    parts.bad = true;
    refuseItem(code, range, message, keyless, key);
  };
  switch (item.kind) {
  case ItemKind::Score: {
    NodeId node = realTensor(value, range);
    if (node == kNoNode)
      return refuse("T0302", "a score must be a tensor");
    if (graph.isZero(node))
      return;
    if (!graph.has(node, key))
      return refuse("T0501",
                    "score" + name + " has no key axis " + axisName(key) + ": it is " + text(node) +
                        ", so it cancels in the softmax",
                    node);
    parts.scores.push_back(node);
    parts.scoreRanges.push_back(range);
    parts.names.push_back(item.name ? item.name->text : "");
    return;
  }
  case ItemKind::Scale:
    if (auto number = value.asReal()) {
      parts.scale = *number;
      return;
    }
    parts.scaleNode = realTensor(value, range);
    if (parts.scaleNode == kNoNode)
      parts.bad = true;
    else if (graph.has(parts.scaleNode, key))
      refuse("T0508", "a scale has no key axis, this is " + text(parts.scaleNode) + "; multiply a score term instead");
    return;
  case ItemKind::Drop: {
    auto rate = value.asReal();
    if (!rate)
      return refuse("T0507", "a dropout rate must be a number known at compile time, this is " + text(value));
    if (*rate < 0 || *rate >= 1)
      return refuse("T0507", "a dropout rate lies in 0 .. 1, below 1; this is " + text(value));
    parts.rate = *rate;
    return;
  }
  case ItemKind::Value:
    parts.value = realTensor(value, range);
    if (parts.value == kNoNode)
      parts.bad = true;
    else if (!graph.has(parts.value, key))
      refuse("T0503", "the value has no key axis " + axisName(key) + ": it is " + text(parts.value), parts.value);
    return;
  case ItemKind::Mask:
    return;
  }
}

std::vector<AxisId> Checker::attendPlaces(Scope *scope, Scope *inner, const ast::Expr &expression) {
  std::vector<AxisId> places;
  for (auto &binder : expression.binders) {
    auto axes = axesOf(scope, binder.axis);
    if (!axes)
      return {};
    if (axes->size() != 1 || includes(places, (*axes)[0])) {
      error("T0506", binder.axis.range,
            axes->size() != 1
                ? "a place runs along one axis, " + binder.axis.text + " is a product"
                : "two places run along axis " + binder.axis.text + "; give the keys an axis of their own: x[T -> S]");
      return {};
    }
    places.push_back((*axes)[0]);
    hints.placeNames[(*axes)[0]] = binder.name.text;
    defineValue(inner, binder.name, Value::ofTensor(graph.iota((*axes)[0], binder.name.range)), ast::Stmt::Kind::Carry);
  }
  return places;
}

void Checker::attendMask(Scope *inner, const ast::AttendItem &item, const ast::Expr &expression,
                         const std::vector<AxisId> &places, AttendParts &parts) {
  const AxisId key = places.back();
  Value value = evaluate(inner, item.value);
  if (value.isPoison() || (value.kind == Value::Kind::Bool && value.truth)) {
    parts.bad |= value.isPoison();
    return;
  }
  NodeId node = tensor(value, item.value->range);
  if (node != kNoNode && graph.constantTruth(node) == std::optional(true))
    return;
  if (node == kNoNode || graph.element(node) != Element::Bool) {
    error("T0502", item.value->range, "a mask must be a truth value per key, this is " + text(value));
    parts.bad = true;
  } else if (!graph.has(node, key)) {
    auto *mistake = error("T0502", item.value->range,
                          "a mask without the key axis " + axisName(key) + " hides all keys or none: it is " + text(node));
    if (mistake && expression.binders.size() > 1)
      mistake->notes.push_back({"help", "use the key place " + expression.binders.back().name.text +
                                            ", or rename to the key axis: [" + axisName(places[0]) + " -> " + axisName(key) +
                                            "]"});
    parts.bad = true;
  } else {
    parts.masks.push_back(node);
  }
}

/// Terms add up by the rule of `+` in whatever order they stand: one of them has the axes of all.
void Checker::checkScoreTerms(AttendParts &parts) {
  size_t widest = 0;
  for (size_t i = 1; i < parts.scores.size(); ++i)
    if (graph.axes(parts.scores[i]).size() > graph.axes(parts.scores[widest]).size())
      widest = i;
  auto named = [&](size_t term) {
    return parts.names[term].empty() ? "score term " + std::to_string(term + 1) : "score " + parts.names[term];
  };
  auto listed = [&](const std::vector<AxisId> &axes) {
    std::string names;
    for (AxisId axis : axes)
      names += (names.empty() ? "" : ", ") + axisName(axis);
    return names;
  };
  for (size_t i = 0; i < parts.scores.size(); ++i) {
    NodeId wide = parts.scores[widest], term = parts.scores[i];
    if (graph.contains(wide, term))
      continue;
    parts.bad = true;
    auto surplus = without(graph.axes(term), graph.axes(wide)), missing = without(graph.axes(wide), graph.axes(term));
    auto *mistake = error("T0203", parts.scoreRanges[i],
                          "neither " + named(i) + " nor " + named(widest) + " has all axes of the other: " + text(term) +
                              " and " + text(wide));
    if (!mistake)
      continue;
    mistake->related.push_back({parts.scoreRanges[i], "has " + text(surplus) + ", which " + named(widest) + " lacks"});
    mistake->related.push_back({parts.scoreRanges[widest], "has " + text(missing) + ", which " + named(i) + " lacks"});
    std::string help = "score terms add up as with `+`";
    if (missing.size() == 1)
      help += "; should a dot[...] or sum[...] of " + named(i) + " run over " + listed(surplus) + " instead of " +
              listed(missing) + "?";
    mistake->notes.push_back({"help", help});
    mistake->notes.push_back(
        {"help", "if an outer product is meant, say so: expand[" + listed(surplus) + "](...) in " + named(widest)});
  }
}

Value Checker::attend(Scope *scope, const ast::Expr &expression) {
  Scope *inner = newScope(scope);
  std::vector<AxisId> places = attendPlaces(scope, inner, expression);
  if (places.empty())
    return poison();
  AttendParts parts;
  std::map<ItemKind, const ast::AttendItem *> single;
  for (auto &item : expression.items) {
    if (item.kind != ItemKind::Score && item.kind != ItemKind::Mask) {
      auto [first, isNew] = single.try_emplace(item.kind, &item);
      if (!isNew) {
        if (auto *mistake = error("T0505", item.range, "an attend has one scale, one drop and one value"))
          mistake->related.push_back({first->second->range, "first one"});
        parts.bad = true;
      }
    }
    if (item.kind == ItemKind::Mask)
      attendMask(inner, item, expression, places, parts);
  }
  inner->conditions.insert(inner->conditions.end(), parts.masks.begin(), parts.masks.end());
  if (parts.bad) // what the mistaken mask would have hidden is unknown, so nothing is said about indices under it
    inner->conditions.push_back(graph.truth(false));
  for (auto &item : expression.items)
    if (item.kind != ItemKind::Mask)
      attendItem(inner, item, places.back(), parts);
  checkScoreTerms(parts);
  if (!parts.bad && (parts.scores.empty() || parts.value == kNoNode)) {
    error("T0504", expression.range,
          parts.value == kNoNode ? "this attend has no `value`" : "this attend has no `score` that is not 0");
    return poison();
  }
  return parts.bad ? poison() : attendNode(scope, expression, places, parts);
}

Value Checker::attendNode(Scope *scope, const ast::Expr &expression, const std::vector<AxisId> &places,
                          const AttendParts &parts) {
  const AxisId key = places.back();
  std::vector<NodeId> weights = parts.scores;
  weights.insert(weights.end(), parts.masks.begin(), parts.masks.end());
  std::vector<AxisId> weightAxes = graph.unite(weights);
  for (AxisId axis : weightAxes) // keys, heads
    if (!requirePlaces(axis, expression.range, "an attend over axis " + sized(axis) + " attends to nothing"))
      return poison();
  if (parts.scaleNode != kNoNode)
    for (AxisId axis : graph.axes(parts.scaleNode))
      if (!includes(weightAxes, axis)) {
        error("T0508", expression.range, "the scale has axis " + axisName(axis) + ", which no score or mask has");
        return poison();
      }
  auto info = std::make_shared<AttendInfo>();
  info->key = key;
  info->queries.assign(places.begin(), places.end() - 1);
  info->scoreNames = parts.names;
  info->scores = unsigned(parts.scores.size());
  info->masks = unsigned(parts.masks.size());
  info->scale = parts.scale;
  info->path = scope->frame->path();
  info->scaleOperand = parts.scaleNode != kNoNode;
  Node node = makeNode(Op::Attend, {Element::Real, {}, {}});
  uint32_t body = kEntryBody;
  if (request.training && parts.rate > 0) {
    info->dropRate = parts.rate;
    info->site = randomSite(scope, expression.range);
    body = scope->body;
  }
  node.attend = info;
  node.layer = scope->frame->layer();
  node.operands = weights;
  node.operands.push_back(parts.value);
  if (info->scaleOperand)
    node.operands.push_back(parts.scaleNode);
  const auto &valueAxes = graph.axes(parts.value);
  auto all = weightAxes.size() >= valueAxes.size() ? weightAxes : valueAxes;
  for (AxisId axis : weightAxes.size() >= valueAxes.size() ? valueAxes : weightAxes)
    if (!includes(all, axis))
      all.push_back(axis);
  node.type.axes = without(all, {key});
  node.range = expression.range;
  return Value::ofTensor(graph.add(node, body));
}

} // namespace tenon::sema
