#include "lowering/gpu/AssemblerDefects.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace tenon::gpu {
namespace {

/// A line `operation a, b, ..;` without its semicolon; empty where it is another one.
llvm::SmallVector<llvm::StringRef, 4> operandsOf(llvm::StringRef line, llvm::StringRef operation) {
  llvm::SmallVector<llvm::StringRef, 4> operands;
  line = line.trim();
  if (!line.consume_front(operation) || !line.consume_back(";"))
    return operands;
  line.split(operands, ',');
  for (llvm::StringRef &operand : operands)
    operand = operand.trim();
  return operands;
}

/// The registers of a function that an extended upper half of a product is in: of each definition, wherever it stands.
llvm::StringSet<> extendedHalves(llvm::ArrayRef<llvm::StringRef> lines) {
  llvm::StringSet<> halves, extended;
  for (llvm::StringRef line : lines)
    if (auto operands = operandsOf(line, "mul.hi.u32"); !operands.empty())
      halves.insert(operands[0]);
  for (llvm::StringRef line : lines)
    if (auto operands = operandsOf(line, "cvt.u64.u32"); operands.size() == 2 && halves.contains(operands[1]))
      extended.insert(operands[0]);
  return extended;
}

void rewrite(llvm::ArrayRef<llvm::StringRef> function, llvm::raw_ostream &out) {
  const llvm::StringSet<> extended = extendedHalves(function);
  for (llvm::StringRef line : function) {
    auto operands = operandsOf(line, "sub.s64");
    if (operands.size() != 3 || !extended.contains(operands[1])) {
      out << line << '\n';
      continue;
    }
    out << "\t{ .reg .b64 %inverse;\n\tnot.b64 \t%inverse, " << operands[1] << ";\n\tadd.s64 \t%inverse, %inverse, "
        << operands[2] << ";\n\tnot.b64 \t" << operands[0] << ", %inverse; }\n";
  }
}

} // namespace

std::string withoutAssemblerDefects(const std::string &ptx) {
  llvm::SmallVector<llvm::StringRef, 0> lines;
  llvm::StringRef(ptx).split(lines, '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  std::string text;
  llvm::raw_string_ostream out(text);
  size_t begin = 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i] == "}" || i + 1 == lines.size()) { // the end of a function
      rewrite(llvm::ArrayRef(lines).slice(begin, i + 1 - begin), out);
      begin = i + 1;
    }
  return text;
}

} // namespace tenon::gpu
