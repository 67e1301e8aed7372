#include "tools/tenon/AttentionPrompt.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <set>

namespace tenon::driver {

using runtime::EntryInfo;

Status encodePrompt(const AttentionOptions &options, const data::Vocabulary &vocabulary, const std::string &task,
                    std::vector<int32_t> &ids) {
  auto mark = [&](const char *name) {
    if (auto id = task == "mlm_nsp" || task == "rtd" ? vocabulary.special(name) : std::nullopt)
      ids.push_back(*id);
  };
  mark("cls");
  if (Status status = vocabulary.encode(options.prompt, ids); status.failed())
    return status.in("--prompt");
  const auto most = static_cast<size_t>(options.length ? options.length : kMostSymbols);
  if (ids.size() > most) {
    note(concat("the first ", most, " of the prompt's ", ids.size(), " symbols are drawn; --length N takes more"));
    ids.resize(most);
  }
  mark("sep");
  return {};
}

void fillFromPrompt(runtime::Context &context, int text, const std::vector<int32_t> &ids, int64_t task) {
  const auto length = static_cast<int64_t>(ids.size());
  for (size_t i = 0; i < context.inputs().size(); ++i) {
    const runtime::BoundTensor &input = context.inputs()[i];
    if (input.type != runtime::DataType::I32)
      continue; // `back`, `weight`: false and 0, as buffers are made
    auto *values = static_cast<int32_t *>(context.input(static_cast<int>(i)));
    const int64_t count = static_cast<int64_t>(input.bytes / sizeof(int32_t)),
                  width = input.shape.size() > 1 ? input.shape[1] : 1;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t place = k % width;
      if (static_cast<int>(i) == text || input.name == "word") // that each predicted place is to give its own symbol
        values[k] = ids[static_cast<size_t>(std::min(place, length - 1))];
      else if (input.name == "len")
        values[k] = static_cast<int32_t>(length);
      else if (input.name == "task")
        values[k] = static_cast<int32_t>(task);
      else if (input.name == "rank" || input.name == "at")
        values[k] = static_cast<int32_t>(std::min(place, length - 1));
    }
  }
}

Status checkPrompt(const EntryInfo &entry, int text, bool hasId) {
  static const std::set<std::string> known = {"ids", "target", "seg",    "len",   "rank",   "back",
                                              "at",  "word",   "weight", "label", "follows"};
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (const std::string &name = entry.inputs[i].name;
        static_cast<int>(i) != text && !known.count(name) && !(hasId && name == "task"))
      return usageError("--prompt gives no '", entry.inputs[i].name,
                        "', which the model reads too; without --prompt the first row of the run's data is drawn");
  return {};
}

} // namespace tenon::driver
