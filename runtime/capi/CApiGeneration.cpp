// The C ABI of generation: one symbol after the other from an entry that keeps its past.
#include "runtime/base/File.h"
#include "runtime/capi/CApiObjects.h"
#include "runtime/generate/Generator.h"
#include <filesystem>

struct tn_generator {
  tenon::data::Vocabulary vocabulary;
  tenon::generate::Settings settings;
  std::shared_ptr<Parameters> parameters;
  std::shared_ptr<ThreadPool> pool;
  std::unique_ptr<tenon::generate::Generator> generator;
  tenon::generate::Symbol symbol; // the last one, whose text the caller reads
};

namespace {

/// A run directory or its vocabulary.json, a file with one symbol per line, a model of sentencepiece, a vocab.json with the
/// merges.txt beside it, or null for bytes.
Status readVocabulary(const char *path, tenon::data::Vocabulary &vocabulary) {
  if (!path) {
    vocabulary = tenon::data::Vocabulary::bytes(false);
    return {};
  }
  std::error_code ignored;
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, ignored))
    file /= "vocabulary.json";
  return tenon::data::Vocabulary::read(file.string(), "", vocabulary);
}

Status apply(const tn_sampling &sampling, tenon::generate::Settings &settings) {
  settings.method = {sampling.greedy != 0, sampling.temperature, sampling.top_k, sampling.top_p};
  settings.limit = sampling.limit;
  settings.seed = sampling.seed;
  return {};
}

} // namespace

tn_error *tn_model_sampling(const tn_model *model, const char *block, tn_sampling *sampling) {
  return guarded([&]() -> Status {
    if (!model || !sampling)
      return usageError("model or sampling is NULL");
    auto settings = tenon::generate::readSettings(model->parameters->manifest(), block ? block : "");
    if (!settings.ok())
      return settings.status();
    *sampling = {settings->method.greedy, settings->method.temperature,
                 settings->method.topK,   settings->method.topP,
                 settings->limit,         settings->seed};
    return {};
  });
}

tn_error *tn_generator_create(tn_model *model, const char *block, const char *entry, const tn_sampling *sampling,
                              const char *stop, const char *vocabulary, tn_threads *threads, tn_generator **generator) {
  return guarded([&]() -> Status {
    if (!model || !generator)
      return usageError("model or generator is NULL");
    auto settings = tenon::generate::readSettings(model->parameters->manifest(), block ? block : "");
    if (!settings.ok())
      return settings.status();
    auto made = std::make_unique<tn_generator>();
    made->settings = settings.take();
    if (entry)
      made->settings.entry = entry;
    if (stop) {
      made->settings.stop = stop;
      made->settings.stopSymbol.reset();
    }
    Status status = sampling ? apply(*sampling, made->settings) : Status();
    if (status.ok())
      status = readVocabulary(vocabulary, made->vocabulary);
    if (status.failed())
      return status;
    auto pool = poolOf(threads);
    if (!pool.ok())
      return pool.status();
    auto inside = tenon::generate::Generator::create(model->parameters, made->settings, made->vocabulary, *pool);
    if (!inside.ok())
      return inside.status();
    made->generator = inside.take();
    made->parameters = model->parameters;
    *generator = made.release();
    return {};
  });
}
void tn_generator_free(tn_generator *generator) { delete generator; }

tn_error *tn_generator_start(tn_generator *generator, const int32_t *ids, uint64_t count) {
  return guarded([&]() -> Status {
    if (!generator || (count > 0 && !ids))
      return usageError("generator or ids is NULL");
    Status status = generator->parameters->checkGiven();
    return status.ok() ? generator->generator->start(std::vector<int32_t>(ids, ids + count), generator->settings.seed) : status;
  });
}
tn_error *tn_generator_start_text(tn_generator *generator, const char *prompt, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (!generator || (bytes > 0 && !prompt))
      return usageError("generator or prompt is NULL");
    std::vector<int32_t> ids;
    Status status = generator->parameters->checkGiven();
    if (status.ok())
      status = generator->generator->promptIds(std::string_view(prompt ? prompt : "", bytes), ids);
    return status.ok() ? generator->generator->start(ids, generator->settings.seed) : status;
  });
}
tn_error *tn_generator_next(tn_generator *generator, int32_t *symbol, const char **text, uint64_t *bytes) {
  return guarded([&]() -> Status {
    if (!generator || !symbol)
      return usageError("generator or symbol is NULL");
    Status status = generator->generator->next(generator->symbol);
    *symbol = generator->symbol.id;
    if (text)
      *text = generator->symbol.text.c_str();
    if (bytes)
      *bytes = generator->symbol.text.size();
    return status;
  });
}
const char *tn_generator_note(const tn_generator *generator) { return generator ? generator->generator->note().c_str() : ""; }
