// A second target, from the plan of its temporaries to a library that is opened: everything that is not a target's own is written
// against Target and knows no other.
#include "dialect/Refusal.h"
#include "lowering/Passes.h"
#include "lowering/Targets.h"
#include "lowering/artifact/Emit.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/artifact/Scalars.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/HostPlatform.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace mlir;

namespace tenon {
namespace {

/// A run of an entry returns 10 * (its number + 1), and one more in the variant `two`. It has kernels for `nest` only.
class CountingTarget : public Target {
public:
  llvm::StringRef name() const override { return "counting"; }
  llvm::StringRef machines() const override { return "whoever counts"; }
  void registerDialects(DialectRegistry &) const override {}
  std::optional<std::string> refuses(KernelOpInterface kernel) const override {
    return isa<NestOp>(kernel.getOperation()) ? std::nullopt : std::optional<std::string>("it counts nests");
  }
  FailureOr<KernelNeeds> needsOf(KernelOpInterface kernel) const override {
    if (refuses(kernel))
      return notSupported(kernel) << "anything but a nest on the target counting";
    return KernelNeeds{{"count"}, {getAffineConstantExpr(1000, kernel->getContext())}, 640};
  }
  bool waitsForMemory() const override { return true; }
  std::vector<std::string> variants() const override { return {"one", "two", "three"}; }
  std::vector<std::string> variantsOf(ModuleOp) const override { return {"one", "two"}; }
  LogicalResult emit(ModuleOp module, ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                     ArtifactParts &parts) const override {
    for (const std::string &variant : options.variants) {
      OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
      ImplicitLocOpBuilder builder(module.getLoc(), module.getContext());
      builder.setInsertionPointToEnd(functions->getBody());
      ArtifactParts::Variant made{variant, {}};
      for (size_t i = 0; i < entries.size(); ++i) {
        made.runs.push_back("count_" + std::to_string(i) + "_" + variant);
        auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer(builder)});
        auto function = LLVM::LLVMFuncOp::create(builder, made.runs.back(), type);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(function.addEntryBlock(builder));
        const int32_t number = int32_t(10 * (i + 1) + (variant == "two"));
        LLVM::ReturnOp::create(builder, LLVM::ConstantOp::create(builder, builder.getI32IntegerAttr(number)).getResult());
      }
      parts.variants.push_back(made);
      std::shared_ptr<HostModule> code =
          translateForHost(*functions, variant, options.flags, [](llvm::StringRef name) { return name.starts_with("count_"); });
      if (!code)
        return failure();
      auto make = [code](CodeForm form) { return compileForHost(*code, HostMachine(cpu::hostPlatform()), form); };
      parts.code.push_back({variant, make});
    }
    return success();
  }
  const HostPlatform &host() const override { return cpu::hostPlatform(); }
  llvm::StringRef triple() const override { return "counting-unknown"; }
  llvm::StringRef device() const override { return "abacus"; }
  Roofline roofline() const override { return {"ten fingers", 10, 2}; }
};

const CountingTarget counting;

constexpr const char *kProgram = R"(
#rows = affine_map<(d0) -> (d0, 8)>
func.func @first(%T: index, %x: tensor<?x8xf32, #rows>)
    attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.nest #rows : tensor<?x8xf32, #rows> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<?x8xf32, #rows> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x8xf32, #rows>
  return
}
func.func @second(%x: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  tenon.output 0 "y", %x : tensor<8xf32>
  return
}
)";

struct TargetTest : testing::Test {
  TargetTest() {
    registerTarget(counting);
    registerTargets(registry);
    registry.insert<func::FuncDialect>();
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  /// In the schedule form, for the target of this name.
  LogicalResult schedule(const std::string &text, const std::string &target) {
    module = parseSourceString<ModuleOp>(text, context.get());
    PassManager passes(context.get());
    ScheduleOptions options;
    options.target = target;
    passes.addNestedPass<func::FuncOp>(createSchedule(options));
    return success(module && succeeded(passes.run(*module)));
  }
  std::vector<ScheduledEntry> entries() {
    std::vector<ScheduledEntry> all;
    for (auto function : module->getOps<func::FuncOp>())
      all.push_back(std::move(*ScheduledEntry::of(function)));
    return all;
  }
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(TargetTest, IsFoundByName) {
  EXPECT_EQ(findTarget("counting"), &counting);
  EXPECT_NE(findTarget("cpu"), nullptr);
  EXPECT_EQ(findTarget("abacus"), nullptr);
}

TEST_F(TargetTest, ChoosesVariants) {
  module = parseSourceString<ModuleOp>(kProgram, context.get());
  using Names = std::vector<std::string>;
  EXPECT_EQ(counting.chooseVariants(*module, {}, "one"), (Names{"one", "two"}));
  EXPECT_EQ(counting.chooseVariants(*module, {"best"}, "one"), Names{"one"});
  EXPECT_EQ(counting.chooseVariants(*module, {"best"}, "three"), Names{"two"}); // which has no code of its own
  EXPECT_EQ(counting.chooseVariants(*module, {"three", "one"}, "one"), (Names{"one", "three"}));
  EXPECT_EQ(counting.chooseVariants(*module, {"best", "three"}, "one"), (Names{"one", "three"}));
  EXPECT_EQ(alternatives(counting.variants()), "one, two or three");
}

TEST_F(TargetTest, PlansItsTemporaries) {
  ASSERT_TRUE(succeeded(schedule(kProgram, "counting")));
  const std::vector<ScheduledEntry> all = entries();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].arenas.scratchBytes, 640);
  ASSERT_EQ(all[0].arenas.slots.size(), 1u);
  EXPECT_EQ(all[0].arenas.slots[0].bytes, getAffineConstantExpr(1000, context.get()));
  EXPECT_EQ(all[1].arenas.slots.size(), 0u);
}

TEST_F(TargetTest, RefusesAtTheOp) {
  std::string said;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  const std::string gemm = R"(
func.func @y(%x: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %x[1, 2] rank 2 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x8xf32>
  return
}
)";
  EXPECT_TRUE(failed(schedule(gemm, "counting")));
  EXPECT_EQ(said, "not supported yet: anything but a nest on the target counting");
  EXPECT_TRUE(succeeded(schedule(gemm, "cpu")));
}

/// A kernel of the CPU that no file of the compiler names, and that multiplies pairs.
struct ForeignKernel : cpu::CpuKernelOpInterface::ExternalModel<ForeignKernel, func::ReturnOp> {
  bool multipliesPairs(Operation *op) const { return op->hasAttr("pairs"); }
  LogicalResult generate(Operation *, cpu::KernelSequence &) const { return failure(); }
};

/// Which tiers a program has is what its kernels say.
TEST_F(TargetTest, AsksKernelsForTheirTiers) {
  func::ReturnOp::attachInterface<ForeignKernel>(*context);
  auto contraction = [](const std::string &factor, const std::string &attributes) {
    return R"(
func.func @y(%x: tensor<8x8x)" +
           factor + R"(>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %x[1, 2] rank 2 : tensor<8x8x)" +
           factor + ">, tensor<8x8x" + factor + R"(> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x8xf32>
  return )" +
           attributes + "\n}\n";
  };
  auto variants = [&](const std::string &text) {
    module = parseSourceString<ModuleOp>(text, context.get());
    return module ? findTarget("cpu")->variantsOf(*module) : std::vector<std::string>();
  };
  const std::vector<std::string> all = findTarget("cpu")->variants();
  EXPECT_EQ(variants(contraction("bf16", "")), all);
  EXPECT_EQ(variants(contraction("f16", "")).size(), all.size() - 2);
  EXPECT_EQ(variants(contraction("f32", "")).size(), all.size() - 2);
  EXPECT_EQ(variants(contraction("f32", "{pairs}")), all);
}

/// What is common to all targets makes the library: the table, `bind`, the linking.
TEST_F(TargetTest, BecomesALibrary) {
  ASSERT_TRUE(succeeded(schedule(kProgram, "counting")));
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tenon-target-test", folder));
  std::error_code fileFailure;
  std::string machineFailure;
  EmitOptions options;
  options.directory = folder.str().str();
  options.name = "counted";
  options.code.variants = counting.variantsOf(*module);
  options.manifest = [](ArrayRef<ScheduledEntry>) { return std::string("{}"); };
  options.buildId = "7";
  options.fileFailure = &fileFailure;
  options.machineFailure = &machineFailure;
  ASSERT_TRUE(succeeded(emitEntries(*module, entries(), counting, options, llvm::outs()))) << machineFailure;
  void *library = dlopen((options.directory + "/libcounted.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove_directories(folder);
  ASSERT_NE(library, nullptr) << dlerror();
  const TnArtifact &artifact = *reinterpret_cast<const TnArtifact *(*)()>(dlsym(library, "tn_artifact"))();
  ASSERT_EQ(artifact.entry_count, 2);
  for (int entry : {0, 1})
    for (int variant : {0, 1}) {
      ASSERT_EQ(artifact.entries[entry].variant_count, 2);
      const TnVariant &code = artifact.entries[entry].variants[variant];
      EXPECT_STREQ(code.name, variant ? "two" : "one");
      EXPECT_EQ(code.run(nullptr), 10 * (entry + 1) + variant);
    }
  EXPECT_STREQ(artifact.entries[0].name, "first");
  const int64_t dims[] = {5};
  int64_t offsets[1] = {-1}, sizes[4] = {};
  artifact.entries[0].bind(dims, offsets, sizes);
  EXPECT_EQ(offsets[0], 0);
  EXPECT_EQ(sizes[1], 1024);
  EXPECT_EQ(sizes[2], 640);
  dlclose(library);
}

} // namespace
} // namespace tenon
