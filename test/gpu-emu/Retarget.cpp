#include "Retarget.h"
#include "Flatten.h"
#include "Memory.h"
#include "Models.h"
#include "Shadow.h"
#include "Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;

namespace tenon::emu {
bool isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel && !function.isDeclaration();
}

SetVector<Function *> reachedFrom(Function &function) {
  SetVector<Function *> reached;
  reached.insert(&function);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (Instruction &instruction : instructions(*reached[i]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
          reached.insert(callee);
  return reached;
}

std::string textOf(const Instruction &instruction, ModuleSlotTracker &slots) {
  std::string text;
  raw_string_ostream stream(text);
  instruction.print(stream, slots);
  StringRef shown = StringRef(text).trim();
  shown = shown.substr(0, shown.find(", !"));
  shown.consume_front("tail ");
  return shown.str();
}

namespace {

/// What a call does; null where it is none of Ops.def.
const Model *modelOf(const CallBase &call) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return assembly->getAsmString().empty() ? findHold(call.arg_size()) : findProduct(assembly->getAsmString());
  const Function *callee = call.getCalledFunction();
  return callee ? findModel(callee->getName()) : nullptr;
}

constexpr unsigned kShared = 3;
constexpr uint32_t kGap = 256; // between shared variables in checked mode

/// Of a function: where its calls of models put arguments, and behind them results, in words of 8 bytes.
struct Slots {
  AllocaInst *place = nullptr;
  unsigned arguments = 0, results = 0;
};

class Retargeter {
public:
  Retargeter(Module &module, const Mode &mode, Retargeted &result)
      : module(module), mode(mode), result(result), builder(module.getContext()) {}

  Error run() {
    for (Function &function : module)
      if (isKernel(function))
        kernels.push_back(&function);
    if (Error error = describeKernels())
      return error;
    if (Error error = placeShared())
      return error;
    for (Function &function : make_early_inc_range(module))
      if (!function.isDeclaration())
        if (Error error = rewrite(function))
          return error;
    if (Error error = flattenAddressSpaces(module, kernels))
      return error;
    addEntries();
    std::string complaint;
    raw_string_ostream stream(complaint);
    if (verifyModule(module, &stream))
      return createStringError("the retargeted module is wrong: " + complaint);
    return Error::success();
  }

private:
  Error describeKernels();
  Error placeShared();
  Error rewrite(Function &function);
  Error rewriteCall(CallBase &call, Site &site, Slots &slots);
  void callModel(CallBase &call, Site &site, Slots &slots);
  void readRegister(CallBase &call, RegisterPlace place);
  Error rewriteMemoryCall(MemIntrinsic &call, Site &site);
  void checkAccess(Instruction &access, Site &site);
  void addEntries();
  Constant *address(const void *place) {
    return ConstantExpr::getIntToPtr(builder.getInt64(reinterpret_cast<uint64_t>(place)), builder.getPtrTy());
  }

  Module &module;
  const Mode &mode;
  Retargeted &result;
  IRBuilder<> builder;
  std::vector<Function *> kernels;
};

Error Retargeter::describeKernels() {
  for (Function *function : kernels) {
    Kernel kernel;
    kernel.name = function->getName().str();
    for (Argument &argument : function->args()) {
      Type *type = argument.getType();
      if (argument.hasByValAttr() && module.getDataLayout().getTypeAllocSize(argument.getParamByValType()) == kMapBytes) {
        kernel.argumentBytes.push_back(kMapBytes); // a map of a tensor
        continue;
      }
      if (argument.hasByValAttr() || !(type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy()) ||
          module.getDataLayout().getTypeStoreSize(type) > 8)
        return createStringError(
            "kernel " + kernel.name + ": argument " + Twine(argument.getArgNo()) +
            " is no number or pointer of up to 8 bytes and no map of a tensor, which the emulator does not take");
      kernel.argumentBytes.push_back(module.getDataLayout().getTypeStoreSize(type));
    }
    for (const char *limit : {"nvvm.reqntid", "nvvm.maxntid"})
      if (function->hasFnAttribute(limit)) {
        SmallVector<StringRef, 3> sizes;
        function->getFnAttribute(limit).getValueAsString().split(sizes, ',');
        kernel.mostThreads = 1;
        for (StringRef size : sizes)
          kernel.mostThreads *= strtoul(size.str().c_str(), nullptr, 10);
      }
    if (function->hasFnAttribute("nvvm.maxnreg"))
      kernel.mostRegisters = strtoul(function->getFnAttribute("nvvm.maxnreg").getValueAsString().str().c_str(), nullptr, 10);
    for (Function *reached : reachedFrom(*function))
      for (Instruction &instruction : instructions(*reached))
        if (auto *call = dyn_cast<CallBase>(&instruction))
          if (const Model *model = modelOf(*call))
            kernel.meets |= (model->traits & kMeets) != 0;
    result.kernels.push_back(std::move(kernel));
  }
  return Error::success();
}

/// Gives every shared variable its place in the arena: behind those that a kernel which uses it has already. The dynamic one
/// comes last.
Error Retargeter::placeShared() {
  std::vector<GlobalVariable *> shared;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kShared)
      shared.push_back(&global);
  std::vector<Constant *> constants;
  for (GlobalVariable &global : module.globals())
    constants.push_back(&global);
  convertUsersOfConstantsToInstructions(constants);
  const DataLayout &layout = module.getDataLayout();
  const auto isDynamic = [](GlobalVariable *global) {
    return global->getValueType()->isArrayTy() && global->getValueType()->getArrayNumElements() == 0;
  };
  llvm::sort(shared, [&](GlobalVariable *one, GlobalVariable *other) { return isDynamic(one) < isDynamic(other); });
  std::vector<SetVector<Function *>> reached;
  for (Function *kernel : kernels)
    reached.push_back(reachedFrom(*kernel));
  const uint32_t gap = mode.checked ? kGap : 0;
  for (GlobalVariable *global : shared) {
    std::vector<size_t> users;
    for (size_t i = 0; i < kernels.size(); ++i)
      if (any_of(global->users(), [&](User *user) {
            auto *instruction = dyn_cast<Instruction>(user);
            return instruction && reached[i].contains(instruction->getFunction());
          }))
        users.push_back(i);
    const bool dynamic = isDynamic(global);
    const uint64_t bytes = dynamic ? 0 : layout.getTypeAllocSize(global->getValueType());
    uint64_t offset = 0;
    for (size_t user : users)
      offset = std::max<uint64_t>(offset, result.kernels[user].sharedEnd);
    offset = alignTo(offset, std::max(Align(16), global->getAlign().valueOrOne()));
    if (offset + bytes + gap > kArena)
      return createStringError("shared variable " + global->getName() + " ends behind the 256 KiB of the arena");
    for (size_t user : users) {
      Kernel &kernel = result.kernels[user];
      kernel.shared.push_back({global->getName().str(), uint32_t(offset), uint32_t(bytes), dynamic});
      kernel.sharedEnd = offset + bytes + (dynamic ? 0 : gap);
      kernel.staticShared = alignTo(kernel.staticShared, global->getAlign().valueOrOne()) + bytes;
    }
    global->replaceAllUsesWith(ConstantExpr::getIntToPtr(builder.getInt64(sharedArena() + offset), builder.getPtrTy(kShared)));
    global->eraseFromParent();
  }
  return Error::success();
}

Error Retargeter::rewrite(Function &function) {
  ModuleSlotTracker names(&module, /*ShouldInitializeAllMetadata=*/false);
  names.incorporateFunction(function);
  Slots slots;
  std::vector<std::pair<Instruction *, Site *>> places;
  for (Instruction &instruction : instructions(function)) {
    if (auto *call = dyn_cast<CallBase>(&instruction); call && modelOf(*call)) {
      slots.arguments = std::max(slots.arguments, call->arg_size());
      if (!call->getType()->isVoidTy())
        slots.results =
            std::max<unsigned>(slots.results, divideCeil(module.getDataLayout().getTypeAllocSize(call->getType()), 8));
    }
    if (!isa<CallBase, LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, AddrSpaceCastInst, FenceInst>(instruction))
      continue;
    Site *site = nullptr;
    if (!isa<AddrSpaceCastInst, FenceInst>(instruction)) {
      site = &result.sites.emplace_back();
      site->kernel = function.getName().str();
      site->text = textOf(instruction, names);
      site->number = result.sites.size();
    }
    places.push_back({&instruction, site});
  }
  for (auto [instruction, site] : places) {
    builder.SetInsertPoint(instruction);
    builder.SetCurrentDebugLocation(DebugLoc());
    if (auto *call = dyn_cast<CallBase>(instruction)) {
      if (Error error = rewriteCall(*call, *site, slots))
        return error;
    } else if (auto *cast = dyn_cast<AddrSpaceCastInst>(instruction)) {
      if (cast->getType()->isVectorTy())
        return createStringError("vectors of pointers in " + function.getName() + " are not supported yet");
      cast->replaceAllUsesWith(
          builder.CreateIntToPtr(builder.CreatePtrToInt(cast->getOperand(0), builder.getInt64Ty()), cast->getType()));
      cast->eraseFromParent();
    } else if (isa<FenceInst>(instruction)) {
      instruction->eraseFromParent();
    } else if (mode.checked) {
      checkAccess(*instruction, *site);
    }
  }
  for (Instruction &instruction : instructions(function))
    instruction.dropUnknownNonDebugMetadata();
  return Error::success();
}

Error Retargeter::rewriteCall(CallBase &call, Site &site, Slots &slots) {
  if (auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()); assembly && !modelOf(call))
    return createStringError("inline assembly in " + site.kernel + " has no row in Ops.def: " + assembly->getAsmString());
  if (const Model *model = modelOf(call)) {
    site.model = model;
    callModel(call, site, slots);
    return Error::success();
  }
  Function *callee = call.getCalledFunction();
  if (!callee)
    return createStringError("a call through a pointer in " + site.kernel + " is not supported: " + site.text);
  if (!callee->isDeclaration())
    return Error::success();
  StringRef name = callee->getName();
  if (auto *memory = dyn_cast<MemIntrinsic>(&call))
    return rewriteMemoryCall(*memory, site);
  if (isDropped(name)) {
    call.eraseFromParent();
    return Error::success();
  }
  RegisterPlace place;
  if (StringRef rest = name; rest.consume_front("llvm.nvvm.read.ptx.sreg.") && findRegister(rest, place)) {
    readRegister(call, place);
    return Error::success();
  }
  if (passesUnchanged(name) || callee == faultState(module).getCallee())
    return Error::success();
  return createStringError((callee->isIntrinsic() ? "intrinsic " : "function ") + name + ", called in " + site.kernel +
                           ", has no row in Ops.def: the emulator does not know what it does");
}

/// Stores the arguments into slots of 8 bytes, and loads the result from behind them.
void Retargeter::callModel(CallBase &call, Site &site, Slots &slots) {
  if (!slots.place) {
    auto *type = ArrayType::get(builder.getInt64Ty(), slots.arguments + slots.results);
    slots.place = new AllocaInst(type, 0, nullptr, Align(16), "slots", call.getFunction()->getEntryBlock().getFirstInsertionPt());
  }
  unsigned count = 0;
  for (Value *argument : call.args()) {
    Value *slot = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slots.place, count++);
    if (argument->getType()->isIntegerTy() && argument->getType()->getIntegerBitWidth() < 32)
      argument = builder.CreateZExt(argument, builder.getInt32Ty());
    builder.CreateStore(argument, slot);
  }
  Value *results = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slots.place, slots.arguments);
  auto *type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getPtrTy(), builder.getPtrTy()}, false);
  builder.CreateCall(type, address(reinterpret_cast<const void *>(site.model->function)), {address(&site), slots.place, results});
  if (!call.getType()->isVoidTy()) {
    Value *value = nullptr;
    if (call.getType()->isIntegerTy(1))
      value = builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), results), builder.getInt1Ty());
    else
      value = builder.CreateLoad(call.getType(), results);
    call.replaceAllUsesWith(value);
  }
  call.eraseFromParent();
}

void Retargeter::readRegister(CallBase &call, RegisterPlace place) {
  Value *base = address(&machine.block);
  if (place.ofThread)
    base = builder.CreateLoad(builder.getPtrTy(), address(&machine.current));
  Value *value = builder.CreateLoad(builder.getInt32Ty(), builder.CreateConstGEP1_64(builder.getInt8Ty(), base, place.offset));
  call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

void copyBytes(const Site *site, uint64_t to, uint64_t from, uint64_t bytes) {
  if (machine.mode.checked && bytes) {
    shadowRead(*site, *machine.current, from, bytes);
    shadowWrite(*site, *machine.current, to, bytes);
  }
  memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
}

void setBytes(const Site *site, uint64_t to, uint8_t value, uint64_t bytes) {
  if (machine.mode.checked && bytes)
    shadowWrite(*site, *machine.current, to, bytes);
  memset(reinterpret_cast<void *>(to), value, bytes);
}

Error Retargeter::rewriteMemoryCall(MemIntrinsic &call, Site &site) {
  Type *word = builder.getInt64Ty();
  Value *to = builder.CreatePtrToInt(call.getDest(), word), *bytes = builder.CreateZExtOrTrunc(call.getLength(), word);
  if (auto *set = dyn_cast<MemSetInst>(&call)) {
    auto *type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), word, builder.getInt8Ty(), word}, false);
    builder.CreateCall(type, address(reinterpret_cast<const void *>(&setBytes)), {address(&site), to, set->getValue(), bytes});
  } else {
    Value *from = builder.CreatePtrToInt(cast<MemTransferInst>(call).getSource(), word);
    auto *type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), word, word, word}, false);
    builder.CreateCall(type, address(reinterpret_cast<const void *>(&copyBytes)), {address(&site), to, from, bytes});
  }
  call.eraseFromParent();
  return Error::success();
}

void Retargeter::checkAccess(Instruction &access, Site &site) {
  Value *pointer = nullptr;
  Type *type = nullptr;
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&access)) {
    pointer = atomic->getPointerOperand();
    type = atomic->getType();
    site.align = atomic->getAlign().value();
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&access)) {
    pointer = exchange->getPointerOperand();
    type = exchange->getNewValOperand()->getType();
    site.align = exchange->getAlign().value();
  } else {
    pointer = getLoadStorePointerOperand(&access);
    type = getLoadStoreType(&access);
    site.align = getLoadStoreAlignment(&access).value();
  }
  const Value *object = getUnderlyingObject(pointer);
  if (isa<AllocaInst>(object) || (isa<GlobalVariable>(object) && cast<GlobalVariable>(object)->isConstant()))
    return; // local memory, constants: nobody else writes them
  site.atomic = access.isAtomic();
  site.reads = !isa<StoreInst>(access);
  site.writes = !isa<LoadInst>(access);
  site.size = module.getDataLayout().getTypeStoreSize(type);
  site.element = site.reads ? elementOf(type) : elementOfStored(*cast<StoreInst>(access).getValueOperand());
  auto *function = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt64Ty()}, false);
  builder.CreateCall(function, address(reinterpret_cast<const void *>(&shadowAccess)),
                     {address(&site), builder.CreatePtrToInt(pointer, builder.getInt64Ty())});
}

/// `void NAME.entry(ptr arguments)` for each kernel.
void Retargeter::addEntries() {
  for (const Kernel &kernel : result.kernels) {
    Function *function = module.getFunction(kernel.name);
    auto *type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
    Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, kernel.name + ".entry", module);
    builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", entry));
    std::vector<Value *> arguments;
    for (Argument &argument : function->args())
      arguments.push_back(builder.CreateLoad(
          argument.getType(), builder.CreateConstGEP1_64(builder.getInt64Ty(), entry->getArg(0), argument.getArgNo())));
    builder.CreateCall(function, arguments);
    builder.CreateRetVoid();
  }
}

} // namespace

Error retarget(Module &module, const Mode &mode, Retargeted &result) {
  if (!module.getTargetTriple().isNVPTX())
    return createStringError("the module is for '" + module.getTargetTriple().str() + "', not for NVPTX");
  std::string complaint;
  raw_string_ostream stream(complaint);
  if (verifyModule(module, &stream))
    return createStringError("the module is wrong: " + complaint);
  StripDebugInfo(module);
  return Retargeter(module, mode, result).run();
}

} // namespace tenon::emu
