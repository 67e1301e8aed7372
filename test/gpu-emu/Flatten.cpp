#include "Flatten.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace tenon::emu {
namespace {

class Flat : public ValueMapTypeRemapper {
public:
  Type *remapType(Type *type) override {
    if (auto *pointer = dyn_cast<PointerType>(type))
      return pointer->getAddressSpace() == 0 ? type : PointerType::get(type->getContext(), 0);
    if (auto *array = dyn_cast<ArrayType>(type))
      return ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto *vector = dyn_cast<FixedVectorType>(type))
      return vector->getElementType()->isPointerTy()
                 ? FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements())
                 : type;
    if (auto *function = dyn_cast<FunctionType>(type)) {
      std::vector<Type *> parameters;
      for (Type *parameter : function->params())
        parameters.push_back(remapType(parameter));
      return FunctionType::get(remapType(function->getReturnType()), parameters, function->isVarArg());
    }
    if (auto *structure = dyn_cast<StructType>(type)) {
      std::vector<Type *> elements;
      for (Type *element : structure->elements())
        elements.push_back(remapType(element));
      if (structure->isOpaque() || ArrayRef<Type *>(elements) == structure->elements())
        return type;
      return StructType::get(type->getContext(), elements, structure->isPacked());
    }
    return type;
  }
};

bool castsSpaces(const Value *value) {
  const auto *constant = dyn_cast<ConstantExpr>(value);
  return constant && (constant->getOpcode() == Instruction::AddrSpaceCast || any_of(constant->operands(), castsSpaces));
}

/// Variables of global and constant memory.
Error flattenGlobals(Module &module, ValueToValueMapTy &map, Flat &flat) {
  for (GlobalVariable &global : make_early_inc_range(module.globals())) {
    if (global.getName().starts_with("llvm."))
      continue;
    if (global.isDeclaration())
      return createStringError("variable " + global.getName() + " has no definition");
    if (global.hasInitializer() && flat.remapType(global.getValueType()) != global.getValueType())
      return createStringError("variable " + global.getName() + " holds pointers, which is not supported yet");
    if (global.getAddressSpace() == 0)
      continue;
    auto *twin = new GlobalVariable(module, global.getValueType(), global.isConstant(), GlobalValue::ExternalLinkage,
                                    global.getInitializer(), "", &global);
    twin->setAlignment(global.getAlign());
    twin->takeName(&global);
    map[&global] = twin;
  }
  return Error::success();
}

} // namespace

Error flattenAddressSpaces(Module &module, std::vector<Function *> &kernels) {
  Flat flat;
  ValueToValueMapTy map;
  if (Error error = flattenGlobals(module, map, flat))
    return error;
  std::vector<Function *> old;
  for (Function &function : module)
    if (!function.isDeclaration())
      old.push_back(&function);
  for (Function *function : old) {
    for (Instruction &instruction : instructions(*function)) {
      if (any_of(instruction.operands(), castsSpaces))
        return createStringError("a constant cast of address spaces in " + function->getName() + " is not supported yet");
      if (auto *call = dyn_cast<CallBase>(&instruction)) {
        call->setCallingConv(CallingConv::C);
        call->setAttributes(AttributeList());
      }
    }
    function->setCallingConv(CallingConv::C);
    function->setAttributes(AttributeList());
    auto *type = cast<FunctionType>(flat.remapType(function->getFunctionType()));
    Function *twin = Function::Create(type, GlobalValue::ExternalLinkage, "", module);
    twin->takeName(function);
    map[function] = twin;
    for (auto [from, to] : zip(function->args(), twin->args()))
      map[&from] = &to;
  }
  for (Function *function : old) {
    SmallVector<ReturnInst *> returns;
    function->addFnAttr("probe-stack", "inline-asm"); // large frames hit the guard page below a fiber's stack
    CloneFunctionInto(cast<Function>(map[function]), function, map, CloneFunctionChangeType::GlobalChanges, returns, "", nullptr,
                      &flat);
  }
  for (Function *&kernel : kernels)
    kernel = cast<Function>(map[kernel]);
  for (Function *function : old)
    function->deleteBody();
  for (Function *function : old)
    function->eraseFromParent();
  for (GlobalVariable &global : make_early_inc_range(module.globals()))
    if (global.use_empty() && global.getAddressSpace() != 0)
      global.eraseFromParent();
  return Error::success();
}

} // namespace tenon::emu
