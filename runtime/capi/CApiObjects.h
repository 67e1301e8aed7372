// What stands behind the handles of the C ABI, and how a Status leaves through it. No exception may leave: the only one that can
// come is bad_alloc.
#pragma once
#include "runtime/context/Context.h"
#include "tenon/runtime.h"
#include <exception>
#include <new>

struct tn_error {
  int code;
  std::string message;
};
struct tn_threads {
  std::shared_ptr<tenon::runtime::ThreadPool> pool;
};
struct tn_model {
  std::shared_ptr<const tenon::runtime::Artifact> artifact;
  std::shared_ptr<tenon::runtime::Parameters> parameters;
  std::vector<std::string> names;     // of the parameters, so that pointers to them stay valid
  std::vector<std::string> meanNames; // of what the first moments are where these are not laid out as parameters
};
struct tn_context {
  std::unique_ptr<tenon::runtime::Context> context;
  std::vector<bool> set, lent; // per input: whether the caller has copied values in, or lends a buffer
};

namespace tenon::runtime {

/// Null for success. The result belongs to the caller.
tn_error *errorOf(const Status &status);
/// Needs no memory.
tn_error *outOfMemoryError();

/// Runs `body`, which returns a Status, and turns whatever comes out into a tn_error.
template <typename Body> tn_error *guarded(Body body) {
  try {
    return errorOf(body());
  } catch (const std::bad_alloc &) {
    return outOfMemoryError();
  } catch (const std::exception &exception) {
    return new (std::nothrow) tn_error{TN_ERROR_BUG, exception.what()};
  }
}

/// What a tensor of an arena is, by its number there; `what` such tensors are called.
Status tensorInfo(const tn_model *model, ParameterArena arena, const char *what, int number, tn_tensor_info *info);

/// Usage error "`what` is NULL".
inline Status need(const void *pointer, const char *what) { return pointer ? Status() : usageError(what, " is NULL"); }

/// The pool of the handle; NULL: a new one of one thread.
inline Expected<std::shared_ptr<ThreadPool>> poolOf(tn_threads *threads) {
  return threads ? Expected<std::shared_ptr<ThreadPool>>(threads->pool) : ThreadPool::create(1);
}

} // namespace tenon::runtime

using namespace tenon::runtime; // only the files of the C ABI include this header
