#include "images.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <unordered_map>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "../../common/third_party/stb/stb_image_write.h"
#pragma GCC diagnostic pop

namespace {

// Levels of red, green and blue in the palette of a GIF: 6 * 7 * 6 = 252 colours.
constexpr int LEVELS[3] = {6, 7, 6};
constexpr unsigned END_OF_IMAGE = 257, CLEAR = 256, LARGEST_CODE = 4095;

int byte_of(float value) {
  return static_cast<int>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
}

/// What a cell of an ordered dither adds, from 0 to nearly 1, for each pixel of an 8 x 8 square.
float threshold(int x, int y) {
  int value = 0;
  for (int bit = 0; bit < 3; ++bit) {
    const int a = x >> bit & 1, b = y >> bit & 1;
    value |= ((a ^ b) << 1 | b) << (4 - 2 * bit);
  }
  return (static_cast<float>(value) + 0.5f) / 64.0f;
}

std::string cannot_write(const std::string& file) {
  return "'" + file + "' cannot be written: " + std::strerror(errno == 0 ? EIO : errno);
}

}  // namespace

std::string write_png(const Image& image, const std::string& file) {
  const std::size_t row = 3 * static_cast<std::size_t>(image.width);
  std::vector<std::uint8_t> bytes(row * static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    const float* from = &image.rgba[4 * y * static_cast<std::size_t>(image.width)];
    std::uint8_t* to = &bytes[(static_cast<std::size_t>(image.height) - 1 - y) * row];
    for (std::size_t i = 0; i < row; ++i) {
      to[i] = static_cast<std::uint8_t>(byte_of(from[i / 3 * 4 + i % 3]));
    }
  }
  errno = 0;
  const int done = stbi_write_png(file.c_str(), image.width, image.height, 3, bytes.data(),
                                  static_cast<int>(row));
  return done != 0 ? "" : cannot_write(file);
}

GifWriter::GifWriter(const std::string& file, int width, int height)
    : name_(file), width_(width), height_(height) {
  if (width > 65535 || height > 65535) {
    error_ = "'" + file + "': a GIF has at most 65535 columns and rows";
    return;
  }
  errno = 0;
  out_ = std::fopen(file.c_str(), "wb");
  if (out_ == nullptr) {
    error_ = cannot_write(file);
    return;
  }
  std::fputs("GIF89a", out_);
  word(static_cast<unsigned>(width)), word(static_cast<unsigned>(height));
  for (const int byte : {0xF7, 0, 0}) std::fputc(byte, out_);  // a palette of 256 colours
  for (int i = 0; i < 256; ++i) {
    const int index = std::min(i, 251), b = index % 6, g = index / 6 % 7, r = index / 42;
    for (const int byte : {r * 255 / 5, g * 255 / 6, b * 255 / 5}) std::fputc(byte, out_);
  }
  std::fwrite("\x21\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0", 1, 19, out_);  // again and again
}

GifWriter::~GifWriter() {
  if (out_ != nullptr) std::fclose(out_);
}

void GifWriter::word(unsigned value) {
  std::fputc(static_cast<int>(value & 255), out_);
  std::fputc(static_cast<int>(value >> 8 & 255), out_);
}

void GifWriter::add(const Image& image) {
  if (out_ == nullptr) return;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(image.rgba.size() / 4);
  for (int y = height_ - 1; y >= 0; --y) {
    for (int x = 0; x < width_; ++x) {
      const float* const from =
          &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                           static_cast<std::size_t>(x))];
      int index = 0;
      for (int i = 0; i < 3; ++i) {
        const float scaled = std::clamp(from[i], 0.0f, 1.0f) * static_cast<float>(LEVELS[i] - 1);
        index =
            index * LEVELS[i] + std::min(static_cast<int>(scaled + threshold(x, y)), LEVELS[i] - 1);
      }
      pixels.push_back(static_cast<std::uint8_t>(index));
    }
  }
  std::fwrite("\x21\xF9\x04\x00\x03\x00\x00\x00", 1, 8, out_);  // for three hundredths of a second
  std::fputc(0x2C, out_);
  word(0), word(0), word(static_cast<unsigned>(width_)), word(static_cast<unsigned>(height_));
  std::fputc(0, out_);
  compress(pixels);
}

/// LZW with codes of 9 to 12 bits, in blocks of up to 255 bytes.
void GifWriter::compress(const std::vector<std::uint8_t>& pixels) {
  std::fputc(8, out_);
  std::vector<std::uint8_t> block;
  unsigned bits = 0, held = 0, width = 9, last = END_OF_IMAGE;
  const auto flush = [&] {
    std::fputc(static_cast<int>(block.size()), out_);
    std::fwrite(block.data(), 1, block.size(), out_);
    block.clear();
  };
  const auto put = [&](unsigned code) {
    bits |= code << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) {
      block.push_back(static_cast<std::uint8_t>(bits & 255));
      if (block.size() == 255) flush();
    }
  };
  std::unordered_map<unsigned, unsigned> known;  // (code of a prefix, next pixel) -> code
  put(CLEAR);
  unsigned prefix = pixels.front();
  for (std::size_t i = 1; i < pixels.size(); ++i) {
    const unsigned key = prefix << 8 | pixels[i];
    if (const auto found = known.find(key); found != known.end()) {
      prefix = found->second;
      continue;
    }
    put(prefix);
    prefix = pixels[i];
    if (last == LARGEST_CODE) {
      put(CLEAR);
      known.clear(), width = 9, last = END_OF_IMAGE;
      continue;
    }
    known[key] = ++last;
    if (last == 1u << width && width < 12) ++width;  // the reader is a code behind
  }
  put(prefix);
  put(END_OF_IMAGE);
  if (held > 0) block.push_back(static_cast<std::uint8_t>(bits & 255));
  if (!block.empty()) flush();
  std::fputc(0, out_);
}

std::string GifWriter::finish() {
  if (out_ == nullptr) return error_;
  std::fputc(0x3B, out_);
  errno = 0;
  const bool failed = std::ferror(out_) != 0;
  if (std::fclose(out_) != 0 || failed) error_ = cannot_write(name_);
  out_ = nullptr;
  return error_;
}
