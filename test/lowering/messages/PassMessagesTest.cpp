// A refusal has a code and is the specification's; any other error of a pass is the compiler's own, whatever its text says.
#include "lowering/PassMessages.h"
#include "dialect/Refusal.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

namespace tenon {
namespace {

struct PassMessagesTest : testing::Test {
  mlir::MLIRContext context;
  SourceFiles sources{{{"m.tn", "model M {\n  out x\n}\n"}}};
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> at(unsigned line, unsigned column) {
    return mlir::ModuleOp::create(mlir::FileLineColLoc::get(&context, "m.tn", line, column));
  }
};

TEST_F(PassMessagesTest, ARefusalIsAMistakeOfTheSpecificationAtItsPlace) {
  PassMessages messages(context, sources, diagnostics, {});
  auto op = at(2, 7);
  notSupported(*op) << "that";
  notSupported(*op) << "that"; // of another entry
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.all()[0].code, kNotSupported);
  EXPECT_EQ(diagnostics.all()[0].message, "not supported yet: that");
  EXPECT_EQ(diagnostics.all()[0].range.begin, 16u);
}

TEST_F(PassMessagesTest, APlaceIsFoundBehindCharactersOfSeveralBytes) {
  sources.files = {{"m.tn", "\xEF\xBB\xBF# \xC3\xA4\xE6\xBC\xA2\nmodel \xC3\xA4 { out x }\n"}};
  PassMessages messages(context, sources, diagnostics, {});
  for (auto [line, column] : {std::pair(1, 1), {1, 4}, {2, 7}, {2, 8}, {2, 15}, {2, 99}, {9, 1}})
    notSupported(*at(line, column)) << "at " << line << ":" << column;
  std::vector<uint32_t> places;
  for (const Diagnostic &mistake : diagnostics.all())
    places.push_back(mistake.range.begin);
  EXPECT_EQ(places, (std::vector<uint32_t>{3, 7, 17, 19, 26, 29, 30})); // behind a line: its end
}

/// Counting lines from the start for each of these would take minutes.
TEST_F(PassMessagesTest, APlaceIsFoundWithoutReadingWhatStandsBefore) {
  sources.files = {{"m.tn", std::string(8'000'000, '\n')}};
  std::string entry = "infer";
  StageWarnings warnings(context, sources, diagnostics, entry);
  auto op = at(1, 1);
  for (unsigned line = 1; line < 8'000'000; line += 800) {
    (*op)->setLoc(mlir::FileLineColLoc::get(&context, "m.tn", line, 1));
    op->emitWarning("too wide");
  }
}

TEST_F(PassMessagesTest, ARefusalWithoutAPlaceIsAtTheSpecification) {
  PassMessages messages(context, sources, diagnostics, ast::Range{0, 6, 7});
  mlir::OwningOpRef<mlir::ModuleOp> op = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  refuse(*op, kNoGradient) << "no gradient";
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].code, kNoGradient);
  EXPECT_EQ(diagnostics.all()[0].range.begin, 6u);
}

TEST_F(PassMessagesTest, AnErrorWithoutACodeIsABugWhateverItSays) {
  testing::internal::CaptureStderr();
  {
    PassMessages messages(context, sources, diagnostics, {});
    auto op = at(2, 7);
    op->emitError("not supported yet: that \x1b[31m");
    op->emitError("expected a size, got none");
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(diagnostics.all().empty());
  EXPECT_EQ(said, "loc(\"m.tn\":2:7): error: not supported yet: that \\u001b[31m\n"
                  "loc(\"m.tn\":2:7): error: expected a size, got none\n");
}

TEST_F(PassMessagesTest, WarningsOfAStageAreOneForAPlaceWithTheEntriesOfEachReason) {
  PassMessages messages(context, sources, diagnostics, {});
  std::string entry = "infer";
  {
    StageWarnings warnings(context, sources, diagnostics, entry);
    auto op = at(2, 7);
    op->emitWarning("too wide");
    op->emitWarning("too wide"); // the second body of a stack
    entry = "train";
    op->emitWarning("too wide");
    op->emitWarning("too long");
    EXPECT_TRUE(diagnostics.all().empty());
  }
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_FALSE(diagnostics.hasErrors());
  using Notes = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(diagnostics.all()[0].notes, (Notes{{"note", "entries infer, train: too wide"}, {"note", "entry train: too long"}}));
}

} // namespace
} // namespace tenon
