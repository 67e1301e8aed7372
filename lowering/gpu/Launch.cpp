#include "lowering/gpu/Launch.h"
#include "lowering/artifact/Abi.h"
#include "lowering/code/Reductions.h"
#include "lowering/gpu/ScalarCode.h"
#include "lowering/target/Rows.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/include/tenon/tensor_map.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kMostBlocks = int64_t(1) << 20; // of a launch whose threads go on with further elements

Value blocksFor(EntryCode &code, Value count, int64_t threads) {
  auto &builder = code.builder;
  return minimum(builder, ceilDivide(builder, count, constant(builder, threads)), constant(builder, kMostBlocks));
}

int64_t threadsFor(AffineExpr count) {
  constexpr int64_t most = 256, warp = 32;
  auto number = dyn_cast<AffineConstantExpr>(count);
  return number && number.getValue() < most ? std::max<int64_t>(llvm::divideCeil(number.getValue(), warp) * warp, warp) : most;
}

EntryCode::EntryCode(LaunchSequence &sequence, ImplicitLocOpBuilder &builder, Value context)
    : ContextCode(sequence.function(), builder, context), sequence(sequence) {}

Value EntryCode::callLibrary(StringRef name, ValueRange operands) {
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(sequence.host, name));
  if (!function) {
    OpBuilder at = OpBuilder::atBlockBegin(sequence.host.getBody());
    Type f64 = at.getF64Type();
    auto type = LLVM::LLVMFunctionType::get(f64, SmallVector<Type>(operands.size(), f64));
    function = LLVM::LLVMFuncOp::create(at, sequence.host.getLoc(), name, type);
  }
  return LLVM::CallOp::create(builder, function, operands).getResult();
}

LaunchSequence::LaunchSequence(ModuleOp host, ModuleOp device, std::vector<KernelName> &kernels, const ScheduledEntry &entry,
                               const ParameterTable &parameters, const Chip &chip)
    : ScheduleEmitter(entry, parameters), chip(chip), host(host), device(device), kernels(&kernels) {}

LaunchSequence::LaunchSequence(func::FuncOp entry, KernelNeeds &needs, const Chip &chip)
    : ScheduleEmitter(entry, needs), chip(chip) {}

/// What a kernel is given, in this order: maps of tensors; addresses of tensors, places and temporaries; the dims; the indices of
/// the loops around; numbers; seed and step.
struct LaunchSequence::Arguments {
  SmallVector<Launch::Place> addresses;
  SmallVector<std::pair<Value, unsigned>> ofTensor; // index into `addresses`
  unsigned firstPlace = 0, firstTemporary = 0;
};

LaunchSequence::Arguments LaunchSequence::argumentsOf(const Launch &launch) {
  Arguments arguments;
  llvm::SmallDenseSet<Value> known;
  for (auto [tensors, isWritten] :
       {std::pair(ArrayRef<Value>(launch.writes), true), std::pair(ArrayRef<Value>(launch.reads), false)})
    for (Value tensor : tensors)
      if (known.insert(tensor).second) {
        arguments.ofTensor.push_back({tensor, unsigned(arguments.addresses.size())});
        arguments.addresses.push_back({*bufferOf(tensor), tensorBytes(storedType(tensor)), isWritten});
      }
  arguments.firstPlace = arguments.addresses.size();
  llvm::append_range(arguments.addresses, launch.places);
  arguments.firstTemporary = arguments.addresses.size();
  for (unsigned number : launch.temporaries)
    arguments.addresses.push_back({temporaryPlace(number), temporaryBytes(number), !llvm::is_contained(launch.onlyRead, number)});
  return arguments;
}

static std::string placeOf(Location location) {
  std::string text;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::interrupt();
  });
  return text;
}

/// Of a kernel and its parameters.
static void setAttributes(LLVM::LLVMFuncOp function, const Launch &launch) {
  OpBuilder builder(function.getContext());
  // Loops are no calls of a library that a GPU lacks; the number of threads bounds what registers they may have.
  SmallVector<Attribute> attributes{builder.getStringAttr("no-builtins"),
                                    builder.getStrArrayAttr({"nvvm.reqntid", Twine(launch.threads).str()})};
  if (launch.registers > 0)
    attributes.push_back(builder.getStrArrayAttr({"nvvm.maxnreg", Twine(launch.registers).str()}));
  function->setAttr("passthrough", builder.getArrayAttr(attributes));
  for (size_t i = 0; i < launch.maps.size(); ++i) { // 128 bytes each, in the memory of parameters (EmitPtx.cpp)
    function.setArgAttr(unsigned(i), LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI64Type(), 16)));
    function.setArgAttr(unsigned(i), LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(128));
  }
}

int64_t LaunchSequence::emitKernel(const Launch &launch, const Arguments &arguments) {
  ImplicitLocOpBuilder builder(launch.location, device.getContext());
  builder.setInsertionPointToEnd(device.getBody());
  Type i64 = builder.getI64Type(), address = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  const size_t maps = launch.maps.size(), dims = entry->dims.size();
  SmallVector<Type> types(maps, tenon::pointer(builder));
  types.append(arguments.addresses.size(), address);
  const size_t firstDim = types.size(), firstLoop = firstDim + dims, firstNumber = firstLoop + loops.size();
  types.append(dims + loops.size(), i64);
  for (const Launch::Number &number : launch.numbers)
    types.push_back(number.type);
  types.append(launch.draws ? 2 : 0, i64);
  std::string symbol = (source.getName() + "_" + launch.name + "_" + Twine(kernels->size())).str();
  for (char &character : symbol)
    if (!llvm::isAlnum(character))
      character = '_';
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(builder, symbol, type);
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  setAttributes(function, launch);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  KernelCode code(*this, builder, launch.threads);
  auto argument = [&](size_t i) -> Value { return block->getArgument(unsigned(i)); };
  for (size_t i = 0; i < maps; ++i)
    code.maps.push_back(argument(i));
  for (auto [tensor, index] : arguments.ofTensor)
    code.pointers[tensor] = argument(maps + index);
  for (size_t i = 0; i < launch.places.size(); ++i)
    code.places.push_back(argument(maps + arguments.firstPlace + i));
  for (size_t i = 0; i < launch.temporaries.size(); ++i)
    code.temporaries.push_back(argument(maps + arguments.firstTemporary + i));
  for (size_t i = 0; i < dims; ++i)
    code.dims.push_back(argument(firstDim + i));
  for (auto [i, loop] : llvm::enumerate(loops))
    code.loopIndices[loop.getBody().getArgument(0)] = argument(firstLoop + i);
  for (size_t i = 0; i < launch.numbers.size(); ++i)
    code.numbers.push_back(argument(firstNumber + i));
  if (launch.draws) {
    code.seed = argument(types.size() - 2);
    code.step = argument(types.size() - 1);
  }
  auto special = [&](StringRef name) -> Value {
    Value number = LLVM::CallIntrinsicOp::create(builder, builder.getI32Type(),
                                                 builder.getStringAttr("llvm.nvvm.read.ptx.sreg." + name), ValueRange())
                       .getResult(0);
    return arith::ExtUIOp::create(builder, i64, number);
  };
  code.threadIndex = special("tid.x");
  code.blockIndex = special("ctaid.x");
  code.blockCount = special("nctaid.x");
  launch.body(code);
  LLVM::ReturnOp::create(builder, ValueRange());
  kernels->push_back({symbol, placeOf(launch.location)});
  return int64_t(kernels->size()) - 1;
}

/// The numbers of a TnTensorMap, as words of 8 bytes.
static SmallVector<Value> wordsOf(const TensorMap &map, EntryCode &code, const Buffer &buffer) {
  static_assert(sizeof(TnTensorMap) == 8 * 13 && offsetof(TnTensorMap, strides) == 8 * 6 && offsetof(TnTensorMap, box) == 8 * 10);
  auto &builder = code.builder;
  const size_t rank = map.sizes.size();
  Value bytes = multiply(builder, code.size(map.offset), constant(builder, 2));
  SmallVector<Value> words{byteAddress(builder, code.address(buffer), bytes)};
  for (size_t i = 0; i < 5; ++i)
    words.push_back(i < rank ? code.size(map.sizes[i]) : constant(builder, 1));
  for (size_t i = 1; i < 5; ++i)
    words.push_back(i < rank ? multiply(builder, code.size(map.strides[i]), constant(builder, 2)) : constant(builder, 0));
  auto boxOf = [&](size_t i) { return i < rank ? map.box[i] : 1; };
  for (size_t i = 0; i < 5; i += 2)
    words.push_back(constant(builder, boxOf(i) | (i < 4 ? boxOf(i + 1) : int64_t(rank)) << 32));
  return words;
}

/// Where something of the memory that a kernel touches is not known (arenas of the optimizer), there is no table.
Value LaunchSequence::emitSpans(const Launch &launch, const Arguments &arguments) {
  auto &builder = entry->builder;
  auto isAddress = [](const Launch::Number &number) { return isa<LLVM::LLVMPointerType>(number.type); };
  if (llvm::any_of(launch.numbers, isAddress) ||
      !llvm::all_of(arguments.addresses, [](const Launch::Place &place) { return bool(place.bytes); }))
    return LLVM::ZeroOp::create(builder, tenon::pointer(builder));
  int64_t count = 0;
  auto add = [&](Value value) {
    Value at = elementAddress(builder, spans, builder.getI64Type(), constant(builder, count++));
    LLVM::StoreOp::create(builder, value, at, 8);
  };
  add(constant(builder, int64_t(arguments.addresses.size())));
  for (const Launch::Place &place : arguments.addresses) {
    Value bytes = entry->size(place.bytes);
    if (place.isWritten)
      bytes = subtract(builder, constant(builder, 0), bytes);
    else if (!isa<AffineConstantExpr>(place.bytes)) // the first place of what has none: ScalarCode::linearIndexOf
      bytes = builder.createOrFold<arith::MaxSIOp>(bytes, constant(builder, kRowBytes));
    add(bytes);
  }
  return spans;
}

void LaunchSequence::emitLaunch(const Launch &launch, const Arguments &arguments, int64_t number) {
  auto &builder = entry->builder;
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type(), address = tenon::pointer(builder);
  Value blocks = launch.blocks ? launch.blocks(*entry) : constant(builder, 1);
  auto start = [&] {
    int64_t words = 0, count = 0; // that are written, of values and of addresses
    auto addWord = [&](Value value) {
      LLVM::StoreOp::create(builder, value, elementAddress(builder, argumentValues, i64, constant(builder, words++)), 8);
    };
    auto addArgument = [&] { // the next word
      LLVM::StoreOp::create(builder, elementAddress(builder, argumentValues, i64, constant(builder, words)),
                            elementAddress(builder, argumentPointers, address, constant(builder, count++)), 8);
    };
    for (const TensorMap &map : launch.maps) {
      addArgument();
      for (Value value : wordsOf(map, *entry, *bufferOf(map.tensor)))
        addWord(value);
    }
    SmallVector<Value> values;
    for (const Launch::Place &place : arguments.addresses)
      values.push_back(entry->address(place.buffer));
    values.append(entry->dims.begin(), entry->dims.end());
    for (LoopOp loop : loops)
      values.push_back(entry->scalar(loop.getBody().getArgument(0)));
    for (const Launch::Number &one : launch.numbers)
      values.push_back(one.value(*entry));
    if (launch.draws)
      values.append({entry->field(abi::Seed), entry->field(abi::Step)});
    for (Value value : values) {
      addArgument();
      addWord(value);
    }
    mostArguments = std::max({mostArguments, words, int64_t(arguments.addresses.size()) + 1});
    auto word = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
    };
    Value callee = entry->pointerField(abi::Launch);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                            {address, i32, i64, i32, i32, address, i32, address});
    LLVM::CallOp::create(builder, type,
                         ValueRange{callee, entry->context, word(number), blocks, word(launch.threads), word(launch.shared),
                                    argumentPointers, word(count + TN_MAP_ARGUMENT * int64_t(launch.maps.size())),
                                    emitSpans(launch, arguments)});
  };
  if (std::optional<int64_t> known = asConstant(blocks)) {
    if (*known > 0)
      start();
    return;
  }
  Value some = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, blocks, constant(builder, 0));
  auto branch = scf::IfOp::create(builder, TypeRange(), some, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  start();
}

/// Whether what is computed in a region, or for it, reads of the context more than what the runs of one graph have in common
/// (runtime/cuda, Graphs::Key).
static bool dependsOnNumbers(Region &region, Value context) {
  llvm::SetVector<Operation *> reached;
  region.walk([&](Operation *op) { reached.insert(op); });
  for (size_t i = 0; i < reached.size(); ++i)
    for (Value operand : reached[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        reached.insert(op);
  constexpr int64_t common[] = {abi::Dims, abi::Arenas, abi::Inputs, abi::Outputs, abi::Offsets, abi::Flags, abi::Launch};
  return llvm::any_of(reached, [&](Operation *op) {
    auto load = dyn_cast<LLVM::LoadOp>(op);
    auto field = load ? load.getAddr().getDefiningOp<LLVM::GEPOp>() : nullptr; // none: the first field, abi::Dims
    return field && field.getBase() == context && !llvm::is_contained(common, int64_t(field.getRawConstantIndices()[0]));
  });
}

/// Only launches that depend on numbers of the run are written down where the device asks for these.
static void writeDown(EntryCode &code, llvm::function_ref<void()> launch) {
  auto &builder = code.builder;
  Value all = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  Value asked = arith::AndIOp::create(builder, code.field(abi::Flags), constant(builder, TN_NUMBERS_ONLY));
  Value any = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, asked, constant(builder, 0));
  auto branch = scf::IfOp::create(builder, TypeRange(), any, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  launch();
  if (dependsOnNumbers(branch.getThenRegion(), code.context))
    branch.getConditionMutable().assign(all);
}

FailureOr<Choice> LaunchSequence::choiceOf(Operation *op, ArrayRef<ChoiceForm> forms) {
  SmallVector<ChoiceForm> all(forms);
  if (mayApproximate(op))
    for (ChoiceForm &form : all) {
      form.numbers.push_back({kApproximate, 0, 1, 1, false, /*isOptional=*/true});
      if (isApproximated(op, chip))
        form.lists.push_back(listBesideOne(op));
    }
  return choiceFor(op, chip.name, all);
}

void LaunchSequence::add(const Launch &launch) {
  if (needs) {
    needs->launches.push_back(launch.name);
    return;
  }
  if (lacksTemporary) // which the op is refused for
    return;
  const Launch guarded = unlessSkipped(launch);
  const Arguments arguments = argumentsOf(guarded);
  const int64_t kernel = emitKernel(guarded, arguments);
  writeDown(*entry, [&] { emitLaunch(guarded, arguments, kernel); });
}

} // namespace tenon::gpu
