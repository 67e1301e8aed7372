#include "GemmHarness.h"
#include "ReplaceInstructions.h"
#include "Tiles.h"

#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/KernelDialects.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/ShortReals.h"
#include "lowering/cpu/TileKernel.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <set>

using namespace mlir;

namespace tenon::test {
namespace {

[[noreturn]] void fail(const llvm::Twine &reason) {
  llvm::errs() << "gemm harness: " << reason << '\n';
  std::abort();
}

bool isAcross(Layout layout) { return layout == Layout::PanelsAcross || layout == Layout::PairPanelsAcross; }
bool isOfPairs(Layout layout) { return layout == Layout::PairPanels || layout == Layout::PairPanelsAcross; }

/// A matrix whose sizes may be constants or arguments: strides as values.
cpu::GemmOperand operandOf(cpu::Emitter &emit, Layout layout, Value base, Value rows, Value columns) {
  Value one = emit.constant(1);
  switch (layout) {
  case Layout::RowMajor:
    return {base, columns, one};
  case Layout::Transposed:
    return {base, one, rows};
  case Layout::Strided:
    return {base, emit.mul(columns, 2), emit.constant(2)};
  case Layout::Padded:
    return {base, emit.add(columns, 1), one};
  default: // panels: no strides
    return {base, columns, one};
  }
}

Value elementsOf(cpu::Emitter &emit, Layout layout, Value rows, Value columns) {
  if (layout == Layout::Padded)
    return emit.mul(rows, emit.add(columns, 1));
  return emit.mul(emit.mul(rows, columns), layout == Layout::Strided ? 2 : 1);
}

Type storageOf(Builder builder, const GemmCase &gemm) {
  switch (gemm.type) {
  case runtime::DataType::F64:
    return builder.getF64Type();
  case runtime::DataType::BF16:
    return builder.getBF16Type();
  case runtime::DataType::F16:
    return builder.getF16Type();
  default:
    return builder.getF32Type();
  }
}

cpu::BatchedGemmSpec specOf(cpu::Emitter &outer, const GemmCase &gemm, Value a, Value b, Value c, ValueRange sizes) {
  Type storage = storageOf(outer.builder, gemm), element = elementModel(storage).compute, inMemory = cpu::memoryType(storage);
  auto size = [&](int64_t position, int64_t constant) {
    return gemm.dynamic ? Value(sizes[position]) : outer.constant(constant);
  };
  Value m = size(0, gemm.m), n = size(1, gemm.n), k = size(2, gemm.k);
  auto inner = [=](OpBuilder &builder, Location location, Value index) {
    cpu::Emitter emit(builder, location);
    Value baseA = emit.at(a, inMemory, emit.mul(index, elementsOf(emit, gemm.a, m, k)));
    Value baseB = emit.at(b, inMemory, emit.mul(index, elementsOf(emit, gemm.b, k, n)));
    Value baseC = emit.at(c, element, emit.mul(index, emit.mul(m, n)));
    cpu::GemmSpec spec;
    spec.tier = gemm.tier;
    spec.storage = storage;
    spec.m = m, spec.n = n, spec.k = k;
    spec.a = operandOf(emit, gemm.a, baseA, m, k);
    spec.b = operandOf(emit, gemm.b, baseB, k, n);
    if (isInPanels(gemm.b))
      spec.panelsOfB = {cpu::kPanelWidth, isOfPairs(gemm.b) ? 2 : 1, isAcross(gemm.b)};
    spec.epilogue = [=](OpBuilder &builder, Location location, const cpu::GemmResult &result) {
      cpu::Emitter emit(builder, location);
      Value place = emit.at(baseC, element, emit.add(emit.mul(result.row, n), result.column));
      cpu::emitVectorStore(builder, location, result.sum, place, result.mask);
    };
    if (isShortReal(storage)) // as GemmKernel.cpp
      spec.target = {[=](OpBuilder &builder, Location location, Value row, Value column) {
                       cpu::Emitter emit(builder, location);
                       return emit.at(baseC, element, emit.add(emit.mul(row, n), column));
                     },
                     elementBytes(element)};
    return spec;
  };
  return {size(3, gemm.batch), inner};
}

func::FuncOp addFunction(cpu::Emitter &emit, llvm::StringRef name, ArrayRef<Type> arguments, ArrayRef<Type> results) {
  auto function = func::FuncOp::create(emit.builder, emit.location, name, emit.builder.getFunctionType(arguments, results));
  emit.builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

OwningOpRef<ModuleOp> buildModule(MLIRContext &context, const GemmCase &gemm) {
  OpBuilder builder(&context);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  cpu::Emitter emit(builder, location);
  Type pointer = emit.pointerType(), index = builder.getI64Type();

  builder.setInsertionPointToEnd(module->getBody());
  func::FuncOp count = addFunction(emit, "tile_count", {index, index, index, index}, {index});
  Value null = LLVM::ZeroOp::create(builder, location, pointer);
  Value tiles = cpu::batchedGemmTileCount(builder, location, specOf(emit, gemm, null, null, null, count.getArguments()));
  func::ReturnOp::create(builder, location, tiles);

  builder.setInsertionPointToEnd(module->getBody());
  Type arguments[] = {pointer, pointer, pointer, pointer, index, index, index, index, index, index};
  func::FuncOp run = addFunction(emit, "run_tiles", arguments, {});
  ValueRange values = run.getArguments();
  cpu::BatchedGemmSpec spec = specOf(emit, gemm, values[0], values[1], values[2], values.drop_front(4));
  emit.loop(values[8], values[9], 1, [&](Value tile) { cpu::emitBatchedGemmTile(builder, location, spec, tile, values[3]); });
  func::ReturnOp::create(builder, location);
  if (failed(verify(*module)))
    fail("the generated module does not verify");
  return module;
}

struct Context {
  Context() {
    DialectRegistry registry;
    cpu::registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

llvm::StringRef cpuOf(const GemmCase &gemm) { return gemm.cpu.empty() ? cpu::tierCpu(gemm.tier) : llvm::StringRef(gemm.cpu); }

/// Code for another CPU than the tier's is there to have its bits compared: LLVM's quickest code generation does.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const GemmCase &gemm) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    fail(error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpuOf(gemm), gemm.cpu.empty() && !gemm.defined ? cpu::tierFeatures(gemm.tier) : "", {}, llvm::Reloc::PIC_,
      std::nullopt, gemm.cpu.empty() ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None));
}

using ModuleBuilder = llvm::function_ref<OwningOpRef<ModuleOp>(MLIRContext &)>;

std::unique_ptr<llvm::Module> translate(const GemmCase &gemm, llvm::LLVMContext &llvmContext, ModuleBuilder build,
                                        llvm::TargetMachine &machine) {
  Context holder;
  OwningOpRef<ModuleOp> module = build(holder.context);
  PassManager passes(&holder.context);
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  if (failed(passes.run(*module)))
    fail("lowering to the LLVM dialect failed");
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(*module, llvmContext);
  if (!result)
    fail("translation to LLVM IR failed");
  if (gemm.defined)
    replaceInstructions(*result);
  result->setDataLayout(machine.createDataLayout());
  result->setTargetTriple(machine.getTargetTriple());
  if (llvm::Error error = makeOptimizingTransformer(3, 0, &machine)(result.get()))
    fail(llvm::toString(std::move(error)));
  return result;
}

llvm::SmallVector<char, 0> emitFile(const GemmCase &gemm, ModuleBuilder build, llvm::CodeGenFileType type) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(gemm);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translate(gemm, context, build, *machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    fail("the target cannot emit this kind of file");
  passes.run(*module);
  return bytes;
}

llvm::SmallVector<char, 0> emitFile(const GemmCase &gemm, llvm::CodeGenFileType type) {
  return emitFile(gemm, [&](MLIRContext &context) { return buildModule(context, gemm); }, type);
}

/// All micro-kernels of a tier; exported, so that nothing drops them.
OwningOpRef<ModuleOp> buildMicroKernels(MLIRContext &context, const GemmCase &gemm, int64_t rows) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  Type storage = storageOf(builder, gemm), element = elementModel(storage).compute;
  int64_t vectors = cpu::microTile(gemm.tier).vectors, width = vectors * cpu::tierLanes(gemm.tier, element);
  bool pairs = cpu::multipliesPairs(gemm.tier, storage), isShort = isShortReal(storage);
  SmallVector<cpu::WalkOfA> walks = {cpu::WalkOfA::RowMajor, cpu::WalkOfA::Transposed};
  if (!isShort) // short ones are never read by strides
    walks.push_back(cpu::WalkOfA::Strided);
  for (cpu::WalkOfA walk : walks)
    for (int64_t height = 1; height <= rows; ++height)
      for (int64_t part = 1; part <= vectors; ++part)
        cpu::getMicroKernel(builder, builder.getUnknownLoc(), {gemm.tier, pairs ? storage : element, height, part, walk, width})
            ->removeAttr("llvm.linkage");
  for (int64_t rowTiles : {1, 2})
    for (int64_t part = 1; part <= vectors && cpu::multipliesTiles(gemm.tier, storage); ++part)
      cpu::getTileKernel(builder, builder.getUnknownLoc(), {gemm.tier, rowTiles, part, width})->removeAttr("llvm.linkage");
  return module;
}

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    fail(llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace

CompiledGemm::CompiledGemm() = default;
CompiledGemm::CompiledGemm(CompiledGemm &&) = default;
CompiledGemm::~CompiledGemm() = default;

int64_t sizeOf(Layout layout, int64_t rows, int64_t columns) {
  switch (layout) {
  case Layout::RowMajor:
  case Layout::Transposed:
    return rows * columns;
  case Layout::Strided:
    return 2 * rows * columns;
  case Layout::Padded:
    return rows * (columns + 1);
  default:
    return rows * columns;
  }
}

int64_t placeOf(Layout layout, int64_t rows, int64_t columns, int64_t row, int64_t column) {
  switch (layout) {
  case Layout::RowMajor:
    return row * columns + column;
  case Layout::Transposed:
    return column * rows + row;
  case Layout::Strided:
    return 2 * (row * columns + column);
  case Layout::Padded:
    return row * (columns + 1) + column;
  default:
    break;
  }
  constexpr int64_t width = cpu::kPanelWidth;
  const int64_t steps = isOfPairs(layout) ? 2 : 1, lines = isAcross(layout) ? columns : rows;
  const int64_t line = isAcross(layout) ? column : row, inPanels = isAcross(layout) ? row : column;
  return inPanels / width * width * lines + line / steps * width * steps + inPanels % width * steps + line % steps;
}

CompiledGemm compileGemm(const GemmCase &gemm) {
  CompiledGemm result;
  llvm::SmallVector<char, 0> object = emitFile(gemm, llvm::CodeGenFileType::ObjectFile);
  result.engine = check(llvm::orc::LLJITBuilder().create());
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), /*RequiresNullTerminator=*/false);
  if (llvm::Error error = result.engine->addObjectFile(std::move(buffer)))
    fail(llvm::toString(std::move(error)));
  result.run = check(result.engine->lookup("run_tiles")).toPtr<GemmFunction>();
  result.tileCount = check(result.engine->lookup("tile_count")).toPtr<TileCountFunction>();
  Context holder;
  Builder builder(&holder.context);
  Type storage = storageOf(builder, gemm);
  cpu::GemmAccess access{gemm.tier, storage};
  if (!gemm.dynamic && gemm.a == Layout::RowMajor)
    access.aRowStride = gemm.k, access.aColStride = 1;
  if (!gemm.dynamic && gemm.a == Layout::Transposed)
    access.aRowStride = 1, access.aColStride = gemm.m;
  const bool inPlace = !isShortReal(storage) && !access.linesShareSet();
  result.scratchBytes = cpu::gemmScratchBytes(gemm.tier, storage, 0, inPlace);
  return result;
}

std::string emitMlir(const GemmCase &gemm) {
  Context holder;
  std::string text;
  llvm::raw_string_ostream stream(text);
  buildModule(holder.context, gemm)->print(stream);
  return text;
}

std::string emitAssembly(const GemmCase &gemm) {
  llvm::SmallVector<char, 0> bytes = emitFile(gemm, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.begin(), bytes.end());
}

std::string emitMicroKernels(const GemmCase &gemm, int64_t rows) {
  auto build = [&](MLIRContext &context) { return buildMicroKernels(context, gemm, rows); };
  llvm::SmallVector<char, 0> bytes = emitFile(gemm, build, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.begin(), bytes.end());
}

bool canRun(cpu::Tier tier) {
  switch (tier) {
  case cpu::Tier::Portable:
    return true;
  case cpu::Tier::Avx2:
    return __builtin_cpu_supports("x86-64-v3");
  case cpu::Tier::Avx512:
    return __builtin_cpu_supports("x86-64-v4");
  case cpu::Tier::Avx512Bf16:
    return __builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512bf16");
  case cpu::Tier::Amx:
    return canRun(cpu::Tier::Avx512Bf16) && hasTiles();
  }
  return false;
}

} // namespace tenon::test
