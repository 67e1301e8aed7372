#include "Program.h"
#include "Models.h"
#include "Shadow.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include <cmath>

using namespace llvm;

namespace tenon::emu {
namespace {

/// What the host's back end calls for conversions it has no instruction for. A result of 16 bits lies in the lowest ones of
/// xmm0, as that of a float does.
float in16Bits(uint16_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof bits);
  return value;
}
uint16_t low16(float value) {
  uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
float f32ToBf16(float value) { return in16Bits(toBf16(value)); }
/// Rounded to odd, so that rounding it once more rounds the double.
float toOdd(double value) {
  float single = float(value);
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (!std::isfinite(value) || double(single) == value)
    return single;
  if (std::fabs(double(single)) > std::fabs(value))
    --bits;
  bits |= 1;
  memcpy(&single, &bits, sizeof bits);
  return single;
}
float f64ToBf16(double value) { return in16Bits(toBf16(toOdd(value))); }
float f64ToF16(double value) { return in16Bits(toF16(toOdd(value))); }
float f32ToF16(float value) { return in16Bits(toF16(value)); }
float f16ToF32(float value) { return fromF16(low16(value)); }

/// The function `tenon.fault` of a module (Retarget.h).
uint8_t stateOfFault(uint32_t number) { return number < kMostFaults ? machine.faults[number] : uint8_t(kNotMade); }

void define(orc::LLJIT &jit, orc::SymbolMap &symbols, const char *name, const void *function) {
  symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
}

/// All that generated code can refer to by name.
Error defineSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
#define TENON_EMU_DEFINE(type, name) define(jit, symbols, #name, reinterpret_cast<const void *>(static_cast<type>(&::name)))
  using F = float (*)(float);
  using D = double (*)(double);
  TENON_EMU_DEFINE(F, exp2f);
  TENON_EMU_DEFINE(F, log2f);
  TENON_EMU_DEFINE(F, sinf);
  TENON_EMU_DEFINE(F, cosf);
  TENON_EMU_DEFINE(F, tanhf);
  TENON_EMU_DEFINE(F, floorf);
  TENON_EMU_DEFINE(F, ceilf);
  TENON_EMU_DEFINE(F, truncf);
  TENON_EMU_DEFINE(F, rintf);
  TENON_EMU_DEFINE(F, nearbyintf);
  TENON_EMU_DEFINE(F, roundf);
  TENON_EMU_DEFINE(F, roundevenf);
  TENON_EMU_DEFINE(D, exp2);
  TENON_EMU_DEFINE(D, log2);
  TENON_EMU_DEFINE(D, sin);
  TENON_EMU_DEFINE(D, cos);
  TENON_EMU_DEFINE(D, tanh);
  TENON_EMU_DEFINE(D, floor);
  TENON_EMU_DEFINE(D, ceil);
  TENON_EMU_DEFINE(D, trunc);
  TENON_EMU_DEFINE(D, rint);
  TENON_EMU_DEFINE(D, nearbyint);
  TENON_EMU_DEFINE(D, round);
  TENON_EMU_DEFINE(D, roundeven);
  TENON_EMU_DEFINE(float (*)(float, float), fmodf);
  TENON_EMU_DEFINE(double (*)(double, double), fmod);
  TENON_EMU_DEFINE(float (*)(float, float), fminf);
  TENON_EMU_DEFINE(float (*)(float, float), fmaxf);
  TENON_EMU_DEFINE(double (*)(double, double), fmin);
  TENON_EMU_DEFINE(double (*)(double, double), fmax);
  TENON_EMU_DEFINE(float (*)(float, float, float), fmaf);
  TENON_EMU_DEFINE(double (*)(double, double, double), fma);
  TENON_EMU_DEFINE(void *(*)(void *, const void *, size_t), memcpy);
  TENON_EMU_DEFINE(void *(*)(void *, const void *, size_t), memmove);
  TENON_EMU_DEFINE(void *(*)(void *, int, size_t), memset);
#undef TENON_EMU_DEFINE
  define(jit, symbols, "__truncsfbf2", reinterpret_cast<const void *>(&f32ToBf16));
  define(jit, symbols, "__truncdfbf2", reinterpret_cast<const void *>(&f64ToBf16));
  define(jit, symbols, "__truncsfhf2", reinterpret_cast<const void *>(&f32ToF16));
  define(jit, symbols, "__truncdfhf2", reinterpret_cast<const void *>(&f64ToF16));
  define(jit, symbols, "tenon.fault", reinterpret_cast<const void *>(&stateOfFault));
  define(jit, symbols, "__extendhfsf2", reinterpret_cast<const void *>(&f16ToF32));
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

Error makeMutant(Module &module, const Mode &mode) {
  if (mode.mutant.empty() || !module.getFunction(mode.mutant))
    return Error::success();
  const unsigned calls = makeDeletable(module, mode.mutant, 0);
  for (unsigned number : mode.faults)
    if (number >= calls)
      return createStringError("kernel " + mode.mutant + " has " + Twine(calls) + " calls that synchronise, and so no number " +
                               Twine(number) + " to delete");
  return Error::success();
}

Expected<std::unique_ptr<orc::LLJIT>> makeJit(const std::string &processor) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  if (!processor.empty()) {
    host->setCPU(processor);
    host->getFeatures() = SubtargetFeatures();
  }
  for (const char *flushes : {"avx512bf16", "avxneconvert"}) // denormals, when they convert to bf16; PTX does not
    host->getFeatures().AddFeature(flushes, false);
  host->setCodeGenOptLevel(CodeGenOptLevel::None); // a kernel is compiled for longer than it runs
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(*host))
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .create();
}

} // namespace

Program::~Program() = default;

Expected<std::unique_ptr<Program>> Program::load(MemoryBufferRef file, const Mode &mode) {
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(file, diagnostic, *context);
  if (!module) {
    std::string text;
    raw_string_ostream stream(text);
    diagnostic.print(nullptr, stream, /*ShowColors=*/false);
    return createStringError("no LLVM IR: " + StringRef(text).trim());
  }
  std::unique_ptr<Program> program(new Program());
  if (Error error = makeMutant(*module, mode))
    return error;
  if (Error error = retarget(*module, mode, program->parts))
    return error;
  auto jit = makeJit(mode.host);
  if (!jit)
    return jit.takeError();
  program->jit = std::move(*jit);
  module->setDataLayout(program->jit->getDataLayout());
  module->setTargetTriple(program->jit->getTargetTriple());
  if (Error error = defineSymbols(*program->jit))
    return error;
  std::vector<std::pair<std::string, uint64_t>> constants;
  for (GlobalVariable &global : module->globals()) {
    if (!global.hasName())
      global.setName("constant");
    global.setLinkage(GlobalValue::ExternalLinkage);
    constants.push_back({global.getName().str(), module->getDataLayout().getTypeAllocSize(global.getValueType())});
  }
  if (Error error = program->jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  for (Kernel &kernel : program->parts.kernels) {
    auto entry = program->jit->lookup(kernel.name + ".entry");
    if (!entry)
      return entry.takeError();
    kernel.entry = entry->toPtr<void (*)(const uint64_t *)>();
  }
  for (const auto &[name, bytes] : constants)
    if (auto place = program->jit->lookup(name))
      shadowAddConstants(place->getValue(), bytes);
    else
      return place.takeError();
  return program;
}

const Kernel *Program::find(StringRef name) const {
  for (const Kernel &kernel : parts.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

} // namespace tenon::emu
