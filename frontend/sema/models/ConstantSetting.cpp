#include "frontend/sema/models/ConstantSetting.h"

namespace tenon::sema {

SettingValue settingOf(const Value &value, ast::Range range) {
  auto setting = std::make_shared<Setting>();
  setting->range = range;
  if (auto whole = value.number()) {
    setting->kind = Setting::Kind::Int;
    setting->integer = *whole;
    setting->real = double(*whole);
  } else if (value.kind == Value::Kind::Real) {
    setting->kind = Setting::Kind::Real;
    setting->real = value.real;
  } else if (value.kind == Value::Kind::Bool) {
    setting->kind = Setting::Kind::Bool;
    setting->truth = value.truth;
  } else if (value.kind == Value::Kind::String) {
    setting->kind = Setting::Kind::Text;
    setting->text = value.text;
  } else {
    return nullptr;
  }
  return setting;
}

} // namespace tenon::sema
