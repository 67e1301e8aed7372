// One number of several batches, by the formulas of the manifest (docs/artifact.md, "Outputs of eval").
#pragma once
#include "runtime/context/Context.h"

namespace tenon::train {

/// What counts of one batch.
struct Counted {
  int64_t rows = -1, places = -1; // so many first ones; -1: all
  std::vector<int64_t> first;     // per row: the first of its places that counts
  bool lengths = false;           // the model knows how many places of a row count
};

/// A value of a formula: axes are told by their names, elements are row-major.
struct Tensor {
  std::vector<std::string> axes;
  std::vector<int64_t> shape;
  std::vector<double> values = {0};
};

/// What the numbers of an entry need of the batches so far.
class Totals {
public:
  explicit Totals(const runtime::Context &context);
  /// The batch that the context has just run.
  runtime::Status add(const Counted &counted);
  double of(size_t output) const;

private:
  /// A part of the entry, summed and compared over rows, and over places unless they are kept.
  struct Part {
    size_t output;
    std::vector<std::string> kept; // axes
    bool isCount = false;          // how many count is all that is asked for
    std::vector<int64_t> shape;
    std::vector<double> total, greatest, least;
    std::vector<double> counted;                     // elements of rows and places; for each place where these are kept
    int64_t whole = 0;                               // as many as a whole batch has
    int64_t places = 0;                              // that count in any batch
    std::vector<std::pair<int64_t, int64_t>> others; // what stands at one place of a row: in the part, and in the sums
    int64_t placeStep = 0;                           // in the sums
  };
  struct Value { // of one batch each
    std::vector<double> total;
    double weight = 0;
    bool whole = false; // of whole batches
  };
  const runtime::Context &context;
  const std::vector<runtime::TensorInfo> &outputs;
  std::vector<Part> parts;
  std::vector<Value> values; // one per output without rows

  void collect(const runtime::AverageInfo &average);
  const Part &partOf(const runtime::AverageInfo &average) const;
  void layOut(Part &part) const;
  runtime::Status addPart(Part &part, const Counted &counted) const;
  runtime::Status addValue(size_t output, bool whole);
  Tensor mean(size_t output) const;
  Tensor sums(const runtime::AverageInfo &average) const;
  Tensor count(const runtime::AverageInfo &average) const;
  Tensor of(const runtime::AverageInfo &average) const;
  int64_t size(const runtime::SizeForm &form) const { return form.evaluate(context.dims()).value_or(0); }
};

} // namespace tenon::train
