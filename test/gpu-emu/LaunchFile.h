// What tenon-gpu-emu runs: a kernel, its arguments and what must come out, as JSON (README.md, "Launch files").
#pragma once
#include "Machine.h"
#include <map>

namespace tenon::emu {

enum class Element { F32, F64, F16, Bf16, I32, I64, U8 };
unsigned bytesOf(Element type);

struct LaunchArgument {
  bool buffer = false;
  uint64_t bits = 0; // of a number, as the kernel gets it
  // Of a buffer:
  std::string name;
  Element type = Element::F32;
  std::vector<double> values; // at the beginning; empty: NaN bytes
  uint64_t count = 0;
  std::vector<double> expected; // empty: not compared
  double tolerance = 0;         // of |got - expected| <= tolerance * (1 + |expected|)
};

struct LaunchFile {
  std::string kernel;
  Dim3 grid, block;
  uint32_t dynamicShared = 0;
  std::vector<LaunchArgument> arguments;
};

llvm::Expected<LaunchFile> readLaunchFile(const std::string &path);

/// `count` values as bytes of the type and back.
void storeValues(Element type, const std::vector<double> &values, void *to);
std::vector<double> loadValues(Element type, const void *from, uint64_t count);

} // namespace tenon::emu
