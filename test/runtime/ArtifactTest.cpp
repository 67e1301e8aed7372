// Opening of artifacts, tiers, memory.
#include "runtime/device/Cpu.h"
#include "test/runtime/Support.h"
#include "test/runtime/abi_text.h"
#include <cstring>

namespace tenon::runtime::test {

TEST(Artifact, OpensAndMatchesTheManifest) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const Manifest &manifest = (*artifact)->manifest();
  EXPECT_EQ(manifest.model, "FAKE");
  ASSERT_EQ(manifest.parameters.size(), 3u);
  EXPECT_EQ(manifest.parameters[0].elements, 60);
  EXPECT_EQ(manifest.parameters[0].elementName(1), "blocks.1.weight");
  EXPECT_EQ((*artifact)->entryIndex("train"), 1);
  EXPECT_EQ((*artifact)->entryIndex("nothing"), -1);
}

TEST(Artifact, RefusesWhatIsNotOne) {
  TemporaryFolder folder;
  expectError(Artifact::open(folder / "none").status(), ErrorKind::Input, "does not exist");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input, "has no libNAME.so");
  writeFile(folder / "libtext.so", "not a library");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input,
              "is not an artifact: neither a directory nor a shared library");
  writeFile(folder / "libtext2.so", "not a library");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input, "several libraries");
}

TEST(Artifact, RefusesAnotherAbi) {
  expectError(Artifact::open(fakeLibrary("fake-abi")).status(), ErrorKind::Input, "ABI version 99, this runtime has " ABI_TEXT);
}

TEST(Artifact, RefusesCodeOfAnotherBuild) {
  expectError(Artifact::open(fakeLibrary("fake-build")).status(), ErrorKind::Input, "from different builds");
}

TEST(Artifact, PicksAndForcesTiers) {
  auto best = Artifact::open(fakeLibrary());
  ASSERT_TRUE(best.ok());
  EXPECT_EQ((*best)->tier(), nameOf(machineTier()));
  auto forced = Artifact::open(fakeLibrary(), "portable");
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ((*forced)->tier(), "portable");
  setenv("TENON_TIER", "portable", 1);
  auto byEnvironment = Artifact::open(fakeLibrary()), bestAgain = Artifact::open(fakeLibrary(), kBestTier);
  setenv("TENON_TIER", "best", 1);
  auto bestByEnvironment = Artifact::open(fakeLibrary());
  setenv("TENON_TIER", "fast", 1);
  auto unknown = Artifact::open(fakeLibrary());
  unsetenv("TENON_TIER");
  ASSERT_TRUE(byEnvironment.ok());
  EXPECT_EQ((*byEnvironment)->tier(), "portable");
  ASSERT_TRUE(bestAgain.ok() && bestByEnvironment.ok());
  EXPECT_EQ((*bestAgain)->tier(), nameOf(machineTier()));
  EXPECT_EQ((*bestByEnvironment)->tier(), nameOf(machineTier()));
  expectError(unknown.status(), ErrorKind::Usage, "unknown tier 'fast'");
  expectError(Artifact::open(fakeLibrary("fake-portable"), "x86-64-v3").status(), ErrorKind::Input, "no code for tier x86-64-v3");
}

// Of a compiler that knows more tiers than this runtime.
TEST(Artifact, PassesOverVariantsThatItDoesNotKnow) {
  auto newer = Artifact::open(fakeLibrary("fake-newer"));
  ASSERT_TRUE(newer.ok()) << newer.status().message();
  EXPECT_EQ((*newer)->tier(), "portable");
  auto parameters = Parameters::create(*newer);
  ASSERT_TRUE(parameters.ok());
  auto context = Context::create(*parameters, "infer", {{"B", 3}}, makePool(1));
  ASSERT_TRUE(context.ok());
  EXPECT_TRUE((*context)->run().ok()); // the unknown one fails a check
  expectError(Artifact::open(fakeLibrary("fake-newer"), "x86-64-v9").status(), ErrorKind::Usage, "unknown tier 'x86-64-v9'");
  expectError(Artifact::open(fakeLibrary("fake-unknown")).status(), ErrorKind::Input,
              "the artifact has no tier that covers all its entries");
  expectError(Artifact::open(fakeLibrary("fake-portable"), "x86-64-v4").status(), ErrorKind::Input, "no code for tier x86-64-v4");
}

TEST(Artifact, RefusesCodeOfAnotherDevice) {
  expectError(Artifact::open(fakeLibrary("fake-device")).status(), ErrorKind::Input,
              "the artifact is for the device 'elsewhere', this one is 'host'");
}

TEST(Cpu, TiersIncludeEachOther) {
  EXPECT_TRUE(missingFeature(Tier::Portable).empty());
  if (missingFeature(Tier::Avx512).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx2).empty());
  }
  if (missingFeature(Tier::Avx512Bf16).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx512).empty());
  }
  if (missingFeature(Tier::Amx).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx512Bf16).empty());
  }
}

// What one bit, or a refusal, takes away; on this machine or another.
TEST(Cpu, ChoosesByBitsAndPermission) {
  static int asked = 0;
  Processor all{{0, 0, ~0u, 0}, {0, ~0u, 0, ~0u}, {~0u, 0, 0, 0}, {0, 0, ~0u, 0}, 0x600e7, [] { return ++asked > 0; }};
  EXPECT_EQ(nameOf(tierOf(all)), "x86-64-v4-amx");
  EXPECT_EQ(asked, 1);
  struct Row {
    void (*take)(Processor &);
    std::string_view lacks;
    Tier best;
  };
  const Row rows[] = {
      {[](Processor &p) { p.askForTiles = [] { return false; }; }, "permission of the operating system to use AMX tiles",
       Tier::Avx512Bf16},
      {[](Processor &p) { p.savedRegisters = 0xe7; }, "operating system support for AMX tiles", Tier::Avx512Bf16},
      {[](Processor &p) { p.savedRegisters = 0x400e7; }, "operating system support for AMX tiles", Tier::Avx512Bf16},
      {[](Processor &p) { p.seven.d &= ~(1u << 22); }, "AMX-BF16", Tier::Avx512Bf16},
      {[](Processor &p) { p.seven.d &= ~(1u << 24); }, "AMX-TILE", Tier::Avx512Bf16},
      {[](Processor &p) { p.sevenOne.a = 0; }, "AVX512_BF16", Tier::Avx512},
      {[](Processor &p) { p.savedRegisters = 0x60007; }, "operating system support for AVX-512 registers", Tier::Avx2},
      {[](Processor &p) { p.seven.b &= ~(1u << 16); }, "AVX512F", Tier::Avx2},
      {[](Processor &p) { p.one.c &= ~(1u << 27); }, "OSXSAVE", Tier::Portable},
  };
  for (const Row &row : rows) {
    Processor processor = all;
    row.take(processor);
    EXPECT_EQ(missingFeature(Tier::Amx, processor), row.lacks);
    EXPECT_EQ(nameOf(tierOf(processor)), nameOf(row.best));
  }
  EXPECT_EQ(asked, 1) << "asked although something else is missing";
}

// A tier that the machine lacks is refused by the name of what it lacks, and is not taken by itself.
TEST(Artifact, SaysWhatATierLacks) {
  if (std::string_view lacks = missingFeature(Tier::Amx); !lacks.empty()) {
    expectError(Artifact::open(fakeLibrary(), "x86-64-v4-amx").status(), ErrorKind::Input,
                concat("this machine cannot run tier x86-64-v4-amx: it lacks ", lacks));
  } else {
    auto amx = Artifact::open(fakeLibrary());
    ASSERT_TRUE(amx.ok());
    EXPECT_EQ((*amx)->tier(), "x86-64-v4-amx");
  }
}

TEST(Memory, ComparesWithWhatIsFree) {
  uint64_t available = availableBytes();
  ASSERT_GT(available, 0u);
  EXPECT_TRUE(checkMemory({{"a little", 1 << 20}}).ok());
  expectError(checkMemory({{"parameters", available}, {"workspace", 1 << 20}}), ErrorKind::Resource, "workspace");
  expectError(checkMemory({{"wraps", UINT64_MAX}, {"around", 2}}), ErrorKind::Resource, "not enough memory");
  auto arena = Arena::allocate(8 << 20, 3, "test");
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % (2 << 20), 3 * 257 * 1024u);
  std::memset(arena->data(), 1, arena->size());
  EXPECT_GE(peakResidentBytes(), arena->size());
  expectError(Arena::allocate(UINT64_MAX - 5, 0, "test").status(), ErrorKind::Resource, "address space");
}

} // namespace tenon::runtime::test
