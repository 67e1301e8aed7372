// Sizes in a manifest, and what has to hold of them.
#include "runtime/artifact/ManifestParts.h"
#include <algorithm>

namespace tenon::runtime {

SizeForm readSizeForm(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  SizeForm form;
  if (reader.json().isInteger()) {
    form.constant = reader.integer(0, largestAxis);
    return form;
  }
  if (!reader.json().isObject()) {
    reader.fail("expected a size: a number or {\"const\": c, \"terms\": {...}}");
    return form;
  }
  form.constant = reader.member("const").integer(-largestAxis, largestAxis);
  reader.member("terms").eachMember([&](const std::string &name, const ManifestReader &factor) {
    std::vector<uint32_t> product; // "B*T"
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('*', begin), name.size());
      const std::string_view own = std::string_view(name).substr(begin, end - begin);
      auto found = std::find_if(dims.begin(), dims.end(), [&](const DimInfo &dim) { return dim.name == own; });
      if (found == dims.end())
        return factor.fail(concat("'", own, "' is not a dim of this entry"));
      product.push_back(static_cast<uint32_t>(found - dims.begin()));
      begin = end + 1;
    }
    const int64_t coefficient = factor.integer(-largestAxis, largestAxis);
    if (product.size() == 1)
      form.terms.emplace_back(product[0], coefficient);
    else
      form.products.emplace_back(std::move(product), coefficient);
  });
  return form;
}

void readRequirements(const ManifestReader &reader, EntryInfo &info) {
  using enum RequirementInfo::Relation;
  static constexpr RequirementInfo::Relation relations[] = {AtMost, Below, Same};
  if (reader.has("requirements"))
    reader.member("requirements").each([&](const ManifestReader &item) {
      RequirementInfo required;
      required.relation = relations[item.member("relation").oneOf({"<=", "<", "=="})];
      required.left = readSizeForm(item.member("left"), info.dims);
      required.right = readSizeForm(item.member("right"), info.dims);
      required.condition = item.member("condition").text();
      required.text = item.has("text") ? item.member("text").text() : "";
      required.place = item.has("place") ? item.member("place").text() : "";
      info.requirements.push_back(std::move(required));
    });
  if (reader.has("sizes"))
    reader.member("sizes").each([&](const ManifestReader &item) {
      info.sizes.emplace_back(item.member("name").text(), readSizeForm(item.member("size"), info.dims));
    });
}

} // namespace tenon::runtime
