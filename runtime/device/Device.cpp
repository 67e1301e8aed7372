#include "runtime/device/Device.h"

namespace tenon::runtime {

const TnVariant *variantOf(const TnEntry &entry, std::string_view name) {
  for (const TnVariant *each = entry.variants; each != entry.variants + entry.variant_count; ++each)
    if (each->name && each->run && name == each->name)
      return each;
  return nullptr;
}

Status DeviceView::write(const void *from) const { return bytes == 0 ? Status() : owner->copyIn(*this, from); }

Status DeviceView::read(void *to) const { return bytes == 0 ? Status() : owner->copyOut(to, *this); }

Status DeviceView::fillZero() const { return bytes == 0 ? Status() : owner->fillZero(*this); }

Status DeviceView::copyFrom(const DeviceView &other) const {
  if (bytes != other.bytes)
    return bugError("a copy of ", other.bytes, " bytes to ", bytes);
  if (bytes == 0)
    return {};
  if (owner == other.owner)
    return owner->copyWithin(*this, other);
  auto values = HostCopy::of(other);
  return values.ok() ? write(values->data()) : values.status();
}

Expected<HostCopy> HostCopy::of(const DeviceView &view) {
  HostCopy result;
  if (!view.hostView()) {
    result.copy.resize(view.size());
    if (Status status = view.read(result.copy.data()); status.failed())
      return status;
  }
  result.place = view.hostView() ? view.hostView() : result.copy.data();
  return result;
}

} // namespace tenon::runtime
