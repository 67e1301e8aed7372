#include "test/runtime/Fuzz.h"
#include "runtime/base/File.h"
#include <cstdio>
#include <cstdlib>

namespace tenon::fuzz {

namespace {

const char *const tokens[] = {"{",
                              "}",
                              "[",
                              "]",
                              ":",
                              ",",
                              "\"",
                              "'",
                              "(",
                              ")",
                              "0",
                              "1",
                              "-1",
                              "255",
                              "65535",
                              "4294967295",
                              "4294967296",
                              "9223372036854775807",
                              "9223372036854775808",
                              "18446744073709551615",
                              "18446744073709551616",
                              "1e400",
                              "0.5",
                              "null",
                              "true",
                              "False",
                              "True",
                              "\"dtype\"",
                              "\"shape\"",
                              "\"data_offsets\"",
                              "\"F32\"",
                              "\"F64\"",
                              "\"BOOL\"",
                              "\"__metadata__\"",
                              "'descr'",
                              "'<f4'",
                              "'|O'",
                              "'shape'",
                              "'fortran_order'",
                              "\"const\"",
                              "\"terms\"",
                              "\"stack\"",
                              "\"offset\"",
                              "\"stride\"",
                              "\"param_bytes\"",
                              "*",
                              "\\u0000",
                              "\\ud800",
                              "\xff",
                              "\xc3\xa9",
                              " ",
                              "\n",
                              "#",
                              "\"step\"",
                              "\"bytes\"",
                              "\"chunks\"",
                              "\"hex\"",
                              "\"files\"",
                              "\"path\"",
                              "\"held_out\"",
                              "\"bind\"",
                              "1e-400",
                              "0.9999999999999999",
                              "\xf0\x9f\x98\x80",
                              "\xed\xa0\x80",
                              "\xc0\x80",
                              "\xef\xbb\xbf",
                              "\r\n",
                              "\n\n",
                              "##",
                              "<unk>",
                              "<eos>",
                              "[MASK]",
                              "\t",
                              "."};

} // namespace

void mutate(std::string &text, Random &random) {
  uint64_t changes = 1 + random.below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    size_t at = random.below(text.size() + 1), length = std::min<size_t>(random.below(12), text.size() - at);
    const char *token = tokens[random.below(sizeof tokens / sizeof *tokens)];
    switch (random.below(8)) {
    case 0:
      if (at < text.size())
        text[at] = static_cast<char>(text[at] ^ 1 << random.below(8));
      break;
    case 1:
      text.insert(at, token);
      break;
    case 2:
      text.replace(at, length, token);
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4: // a piece of the text again, elsewhere
      text.insert(at, text.substr(random.below(text.size() + 1), random.below(200)));
      break;
    case 5: // the whole of a number becomes another: sizes that do not fit are the interesting mistakes
    case 6: {
      size_t digit = text.find_first_of("0123456789", at);
      if (digit == std::string::npos)
        break;
      size_t end = text.find_first_not_of("0123456789", digit);
      uint64_t value = std::strtoull(text.c_str() + digit, nullptr, 10);
      uint64_t choices[] = {value + 1, value - 1, value * 2, value << 32, random.next(), random.below(100), 0};
      text.replace(digit, end == std::string::npos ? end : end - digit, std::to_string(choices[random.below(7)]));
      break;
    }
    default:
      text.resize(at);
    }
    if (text.size() > 100'000)
      text.resize(100'000);
  }
}

void writeAll(const std::string &path, const std::string &bytes) {
  std::remove(path.c_str()); // ext4 waits for the disk when a file is truncated and written again
  auto file = runtime::File::create(path);
  if (!file.ok() || file->write(bytes.data(), bytes.size()).failed()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(2);
  }
}

void require(bool holds, const char *property) {
  if (holds)
    return;
  std::fprintf(stderr, "FINDING: %s\n", property);
  std::abort();
}

} // namespace tenon::fuzz
