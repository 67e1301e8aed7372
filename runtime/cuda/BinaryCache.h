// What the driver compiled of an artifact's PTX, kept in the user's cache: TENON_CACHE/gpu, XDG_CACHE_HOME/tenon/gpu or
// ~/.cache/tenon/gpu. A file is named by the driver's version, the chip and a hash of the PTX, and has a hash of itself, so that
// a damaged one is made again; files are replaced as a whole, so several processes may come at once.
#pragma once
#include "runtime/cuda/CudaDevice.h"

namespace tenon::runtime::cuda {

class BinaryCache {
public:
  BinaryCache(const CudaDevice &device, std::string_view ptx);
  /// Empty where there is none that is whole.
  std::string find() const;
  /// Nothing is kept where no folder is there for this user alone: it holds code that is run. The next process compiles again.
  void keep(std::string_view image) const;

private:
  std::string name; // of the file
};

} // namespace tenon::runtime::cuda
