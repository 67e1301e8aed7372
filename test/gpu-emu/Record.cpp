#include "Record.h"
#include "Memory.h"
#include "Retarget.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tenon::emu {

Recorder *Recorder::current = nullptr;

static StringRef bytesOf(const Buffer &buffer) { return {reinterpret_cast<const char *>(buffer.begin), size_t(buffer.bytes)}; }

void Recorder::note(const Site &site, uint64_t address, uint64_t bytes) {
  const Buffer *buffer = bufferAt(address);
  std::fill_n(known.at(buffer->begin).types.begin() + int64_t(address - buffer->begin), bytes, site.element);
}

int64_t Recorder::keep(StringRef bytes) {
  data += bytes;
  return int64_t(data.size() - bytes.size());
}

/// Calls `body(begin, end)` for runs of [0, count) in which `key` gives the same, which is not 0.
template <typename Key, typename Body> static void forRuns(size_t count, Key key, Body body) {
  for (size_t begin = 0, end; begin < count; begin = end) {
    end = begin + 1;
    while (end < count && key(end) == key(begin))
      ++end;
    if (key(begin))
      body(begin, end);
  }
}

char elementOf(Type *type) {
  type = type->getScalarType();
  return type->isFloatTy() ? 'f' : type->isDoubleTy() ? 'd' : type->isHalfTy() ? 'h' : type->isBFloatTy() ? 'b' : 'i';
}

/// Whether the bits of `value` are those of a real of as many bits, by which a compiler sets a sign or chooses one.
static bool holdsReal(const Value &value, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 6;
  const auto *instruction = dyn_cast<Instruction>(&value);
  if (!instruction || depth == kMostDepth)
    return false;
  if (isa<BitCastInst>(instruction)) {
    const Type *from = instruction->getOperand(0)->getType();
    return from->isFPOrFPVectorTy() && from->getScalarSizeInBits() == value.getType()->getScalarSizeInBits();
  }
  const unsigned code = instruction->getOpcode();
  return (code == Instruction::And || code == Instruction::Or || code == Instruction::Xor || code == Instruction::Select) &&
         any_of(instruction->operands(), [&](const Use &use) { return holdsReal(*use, depth + 1); });
}

char elementOfStored(const Value &value) {
  const char letter = elementOf(value.getType());
  if (letter != 'i' || !holdsReal(value))
    return letter;
  const unsigned bits = value.getType()->getScalarSizeInBits();
  return bits == 32 ? 'f' : bits == 64 ? 'd' : 'i';
}

void Recorder::before() {
  current = this;
  std::map<uint64_t, Known> now;
  set = {};
  for (const Buffer &buffer : allBuffers()) {
    const StringRef bytes = bytesOf(buffer);
    auto old = known.find(buffer.begin);
    Known &entry = now[buffer.begin];
    entry = old != known.end() ? std::move(old->second) : Known{buffers++, std::string(buffer.bytes, '\xff'), {}};
    entry.types.assign(buffer.bytes, 0);
    constexpr size_t kBlock = 64; // short runs between others are not worth their own
    forRuns((bytes.size() + kBlock - 1) / kBlock,
            [&](size_t i) { return bytes.substr(i * kBlock, kBlock) != StringRef(entry.bytes).substr(i * kBlock, kBlock); },
            [&](size_t begin, size_t end) {
              const StringRef run = bytes.slice(begin * kBlock, end * kBlock);
              set.push_back(json::Array{entry.number, int64_t(begin * kBlock), int64_t(run.size()), keep(run)});
            });
    entry.bytes = bytes.str();
  }
  known = std::move(now);
}

void Recorder::after(const std::string &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, ArrayRef<uint64_t> arguments) {
  current = nullptr;
  json::Array slots, written;
  json::Object present;
  for (const uint64_t argument : arguments)
    if (isDeviceAddress(argument)) {
      const Buffer *buffer = bufferAt(argument);
      slots.push_back(json::Array{known.at(buffer->begin).number, int64_t(argument - buffer->begin)});
    } else {
      slots.push_back(int64_t(argument));
    }
  for (const Buffer &buffer : allBuffers()) {
    Known &entry = known.at(buffer.begin);
    present[std::to_string(entry.number)] = int64_t(buffer.bytes);
    const StringRef bytes = bytesOf(buffer);
    forRuns(
        bytes.size(), [&](size_t i) { return entry.types[i]; },
        [&](size_t begin, size_t end) {
          written.push_back(json::Array{entry.number, int64_t(begin), int64_t(end - begin), keep(bytes.slice(begin, end)),
                                        std::string(1, entry.types[begin])});
        });
    entry.bytes = bytes.str();
  }
  launches.push_back(json::Object{{"kernel", kernel},
                                  {"grid", json::Array{grid.x, grid.y, grid.z}},
                                  {"block", json::Array{block.x, block.y, block.z}},
                                  {"shared", dynamicShared},
                                  {"arguments", std::move(slots)},
                                  {"buffers", std::move(present)},
                                  {"set", std::move(set)},
                                  {"written", std::move(written)}});
}

Error Recorder::write(MemoryBufferRef code) {
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object{{"tolerance", tolerance}, {"launches", std::move(launches)}});
  const std::pair<StringRef, StringRef> files[] = {{"launches.json", text},
                                                   {"kernels.ptx", ptx},
                                                   {"data.bin", data},
                                                   {sys::path::filename(code.getBufferIdentifier()), code.getBuffer()}};
  for (const auto &[name, content] : files) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    std::error_code error = sys::fs::create_directories(folder);
    raw_fd_ostream file(path, error);
    if (!error) {
      file << content;
      file.close();
      error = file.error();
    }
    if (error)
      return createStringError(path + ": " + error.message());
  }
  return Error::success();
}

} // namespace tenon::emu
