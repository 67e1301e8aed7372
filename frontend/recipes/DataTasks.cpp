#include "frontend/recipes/SchemaForms.h"

namespace tenon::schema {

namespace {

using Element = Made::Element;
using Values = Made::Values;

/// What several tasks take and make.
struct Common {
  Parameter text = required(of("text", Type::Texts)), file = required(of("file", Type::Text)), vocab = of("vocab", Type::Text),
            unit = choice("unit", {"bytes", "characters"}), merges = of("merges", Type::Text), pieces = of("model", Type::Text),
            vectors = unsupported(of("vectors", Type::Text)), length = open(whole("length")), form = of("form", Type::Text),
            pad = choice("pad", {"right", "left"}), label = of("label", Type::Text), rate = starting(fraction("rate"), 0.15),
            shorter = starting(fraction("short"), 0.1), lower = of("lower", Type::Bool);
  Made ids{"ids", "BT", Element::Whole, Values::Symbols}, seg{"seg", "BT", Element::Whole, Values::Below, 2},
      sixSegments{"seg", "BT", Element::Whole, Values::Below, 6}, place{"place", "BT", Element::Whole, Values::Places},
      len{"len", "B", Element::Whole, Values::PlacesAndOne}, prefix{"prefix", "B", Element::Whole, Values::PlacesAndOne},
      direction{"task", "B", Element::Whole, Values::Below, 4}, at{"at", "BK", Element::Whole, Values::Places},
      word{"word", "BK", Element::Whole, Values::Symbols}, weight{"weight", "BK", Element::Real},
      follows{"follows", "B", Element::Whole, Values::Below, 2}, last{"at", "B", Element::Whole, Values::Places},
      rank{"rank", "BT"}, back{"back", "B", Element::Truth}; // XLNet's
};

Function task(std::string_view name, std::vector<Parameter> parameters, std::vector<Made> makes) {
  return {"data task", name, std::move(parameters), false, {}, true, std::move(makes)};
}

/// Tasks of published recipes that no code makes batches for yet.
std::vector<Function> plannedTasks() {
  const Parameter text = required(of("text", Type::Texts)), vocab = of("vocab", Type::Text);
  const std::vector<std::pair<std::string_view, std::vector<Parameter>>> tasks = {
      {"dialogues", {text, vocab, whole("tokens"), of("forms", Type::Texts), probability("fake")}}};
  std::vector<Function> result;
  for (const auto &[name, parameters] : tasks)
    result.push_back({"data task", name, parameters, false, {}, false});
  return result;
}

/// Tasks over lines of files: texts that belong together, and texts with labels.
std::vector<Function> lineTasks() {
  const Common c;
  return {task("translation",
               {required(of("source", Type::Text)), required(of("target", Type::Text)), c.vocab, c.pieces, open(whole("tokens"))},
               {{"src", "BS", Element::Whole, Values::Symbols},
                {"src_len", "B"},
                {"tgt", "BT", Element::Whole, Values::Symbols},
                {"tgt_len", "B"},
                {"label", "BT", Element::Whole, Values::Symbols}}),
          task("seq2seq",
               {required(of("source", Type::Text)), required(of("target", Type::Text)), c.vocab, c.pieces,
                starting(fraction("rate"), 0.7)},
               {c.ids, c.sixSegments, c.place, c.len, c.direction, c.prefix, c.at, c.word, c.weight}),
          task("single", {c.file, c.vocab, c.merges, c.pieces, c.length, c.form, c.pad, c.label, c.vectors},
               {c.ids, c.seg, c.len, {"label", "B"}, {"score", "B", Element::Real}, c.last, c.rank, c.back}),
          task("pairs", {c.file, c.vocab, c.merges, c.pieces, c.length, c.form, c.pad, c.label},
               {c.ids, c.seg, c.len, {"label", "B"}, {"score", "B", Element::Real}, c.last, c.rank, c.back}),
          task("relations", {c.file, c.vocab, c.pieces, c.length, c.form, c.pad}, {c.ids, c.seg, c.len, {"relation", "B"}}),
          task("relevance", {c.file, c.vocab, c.pieces, c.length, c.form, c.pad}, {c.ids, c.seg, c.len, {"relevance", "B"}}),
          task("tags", {c.file, c.vocab, c.merges, c.pieces, c.length, c.form, c.vectors},
               {c.ids, c.len, {"tag", "BT"}, {"weight", "BT", Element::Real}, {"seg", "BT", Element::Whole, Values::Below, 1}}),
          task("groups",
               {c.file, c.vocab, c.merges, c.pieces, c.length, required(whole("size", 2, 1000)), c.form, c.label,
                of("ids", Type::Text)},
               {{"ids", "BAT", Element::Whole, Values::Symbols},
                {"seg", "BAT", Element::Whole, Values::Below, 2},
                {"len", "BA", Element::Whole, Values::PlacesAndOne},
                {"label", "B"},
                {"at", "BA", Element::Whole, Values::Places}}),
          task("squad",
               {c.file, c.vocab, c.merges, c.pieces, c.length, starting(whole("stride"), 128), starting(whole("question"), 64),
                c.form, c.pad, starting(whole("longest"), 30)},
               {c.ids,
                c.seg,
                c.len,
                {"start", "B", Element::Whole, Values::Places},
                {"end", "B", Element::Whole, Values::Places},
                {"inside", "B", Element::Real},
                {"allowed", "BT", Element::Truth}})};
}

/// Tasks over lines of a text, for models that are trained before they have a task.
std::vector<Function> sentenceTasks() {
  const Common c;
  Parameter stages = of("stages", Type::Texts);
  stages.choices = {"char", "phrase", "entity"};
  return {
      task(
          "mlm_nsp",
          {c.text, c.vocab, c.pieces, c.rate, choice("words", {"pieces", "whole", "units", "jieba"}), c.shorter, c.lower, c.unit},
          {c.ids, c.seg, c.len, c.at, c.word, c.weight, c.follows}),
      task("rtd", {c.text, c.vocab, c.pieces, c.rate, starting(fraction("keep"), 0.15), c.unit},
           {c.ids, {"masked", "BT", Element::Whole, Values::Symbols}, c.seg, c.len, c.at, c.weight}),
      task("mlm_blocks",
           {c.text, c.vocab, c.merges, c.pieces, c.rate, choice("mask", {"dynamic", "static"}),
            choice("words", {"pieces", "whole"}), c.unit},
           {c.ids, {"seg", "BT", Element::Whole, Values::Below, 1}, c.len, c.at, c.word, c.weight}),
      task("span_corruption", {c.text, c.vocab, c.pieces, c.rate, starting(real("mean_span", 1), 3)},
           {{"src", "BS", Element::Whole, Values::Symbols},
            {"src_len", "B"},
            {"tgt", "BT", Element::Whole, Values::Symbols},
            {"tgt_len", "B"},
            {"label", "BT", Element::Whole, Values::Symbols}}),
      task("ernie_masks", {c.text, c.vocab, unsupported(whole("tokens")), c.rate, stages, c.shorter, c.lower, c.unit},
           {c.ids,
            c.seg,
            c.len,
            c.at,
            c.word,
            c.weight,
            {"label", "B", Element::Whole, Values::Below, 2},
            {"upper", "BT", Element::Whole, Values::Below, 2},
            {"topic", "BT", Element::Whole, Values::Below, 2}}),
      task("unilm",
           {c.text, c.vocab, c.pieces, of("shares", Type::Reals), c.rate, starting(probability("ngram"), 0.2), c.shorter, c.unit},
           {c.ids,
            c.sixSegments,
            c.place,
            c.len,
            c.direction,
            c.prefix,
            c.at,
            c.word,
            c.weight,
            c.follows,
            {"paired", "B", Element::Real}}),
      task("reorder", {c.text, c.vocab, c.pieces, starting(whole("most", 2, 8), 4), c.unit},
           {c.ids, {"seg", "BT"}, c.len, {"order", "B"}}),
      task("distances", {c.text, c.vocab, c.pieces, c.unit},
           {c.ids, c.seg, c.len, {"distance", "B", Element::Whole, Values::Below, 3}})};
}

} // namespace

/// Tasks over texts and over files of the user's own.
std::vector<Function> dataTasks() {
  const Common c;
  const Made target{"target", "BT", Element::Whole, Values::Symbols};
  const std::vector<Made> stream = {c.ids, target};
  Parameter share = first(fraction("share"));
  share.lowOpen = true;
  std::vector<Function> tasks = {
      task("byte_stream", {c.text, c.vocab, c.unit}, stream),
      task("char_stream", {c.text, c.vocab, starting(c.unit, 1)}, stream),
      task("lm_stream", {c.text, c.vocab, c.merges, c.pieces, c.unit}, stream),
      task("lm_blocks", {c.text, c.vocab, c.merges, c.pieces, c.unit}, {c.ids, target, c.len}),
      task("permutation_lm",
           {c.text, c.vocab, c.pieces, c.unit, whole("reuse", 0), starting(whole("alpha"), 6), starting(whole("beta"), 1),
            starting(whole("max_span"), 5), of("both_ways", Type::Bool)},
           {c.ids,
            {"seg", "BT", Element::Whole, Values::Below, 3},
            c.rank,
            c.back,
            c.at,
            c.word,
            c.weight,
            {"label", "B", Element::Whole, Values::Below, 2}}),
      task("images",
           {of("folder", Type::Text), of("file", Type::Text), of("labels", Type::Text), of("crop", Type::Text),
            of("flip", Type::Bool), choice("norm", {"range", "half", "imagenet"})},
           {{"image", "BCYX", Element::Real}, {"label", "B"}}),
      {"data task", "arrays", {of("stream", Type::Bool)}, false, {}, true, {}, call("file", "array", Type::Source)},
      {"data task", "jsonl", {c.text}, false, {}, true, {}, of("key", Type::Text)}};
  for (const std::vector<Function> &more : {sentenceTasks(), lineTasks(), plannedTasks()})
    tasks.insert(tasks.end(), more.begin(), more.end());
  for (Function &each : tasks) {
    if (each.name == "images")
      each.oneOf = {"folder", "file"};
    for (size_t i = 0; i < each.parameters.size(); ++i)
      if (each.parameters[i].name == "model") // of whose pieces T5's sentinels are none
        each.parameters.insert(each.parameters.begin() + static_cast<std::ptrdiff_t>(i) + 1, whole("sentinels", 0, 10'000));
    each.parameters.push_back(open(whole("every"))); // for `valid`: evaluate after so many steps
    each.parameters.push_back(fraction("held_out")); // the last share of the text, which training does not see
  }
  tasks.push_back({"data task", "caller", {}, false, {}});                              // batches come through the C interface
  tasks.push_back({"data task", "held_out", {share, open(whole("every"))}, false, {}}); // `valid`: a part of `data`
  tasks.push_back(
      {"array",
       "ragged",
       {first(of("values", Type::Text)), first(of("offsets", Type::Text)), whole("pad", 0), choice("side", {"right", "left"})},
       false,
       {}});
  tasks.push_back({"array", "fixed", {first(of("values", Type::Text))}, false, {}});
  return tasks;
}

} // namespace tenon::schema
