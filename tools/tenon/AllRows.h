// An output of a model for all rows of an evaluation.
#pragma once
#include "runtime/train/Session.h"
#include "tools/tenon/Command.h"

namespace tenon::driver {

/// The entry that puts it out without walking from place to place, or null.
const runtime::EntryInfo *entryOfOutput(const std::string &output, const runtime::Manifest &manifest);
/// Of all such entries, for messages: "logits, h"; or "none".
std::string outputNames(const runtime::Manifest &manifest);

/// Rows of a batch of an evaluation, which has room for `rows`, that count.
int64_t countedRows(const data::DataTask &task, uint64_t batch, int64_t rows);

/// Values of an input of the evaluation, in memory of their own: what an entry puts out does not read labels.
struct OwnTensor {
  std::vector<double> room; // eight bytes are enough for an element of each type
  data::InputTensor tensor;
  OwnTensor(const std::string &name, runtime::DataType type, const std::vector<int64_t> &shape, int64_t bound) {
    tensor.name = name;
    tensor.type = type;
    tensor.shape = shape;
    tensor.bound = bound;
    room.resize(static_cast<size_t>(tensor.elements()));
    tensor.data = room.data();
  }
};

/// The values of an output, `width` numbers for each row, in the order of the evaluation.
struct AllRows {
  std::vector<double> values;
  std::vector<int64_t> shape;    // of a batch
  std::vector<std::string> axes; // of the shape
  runtime::DataType type = runtime::DataType::F32;
  size_t width = 0;
};
/// Binds `task` to the entry of the output, whose dims are those of `evaluation`.
Expected<AllRows> outputOfAllRows(const std::string &output, const train::TaskRecipe &recipe, data::DataTask &task,
                                  const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool);

} // namespace tenon::driver
