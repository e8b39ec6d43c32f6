/// \file
/// Images as files: PNG, and animations as GIF.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "reference.h"

/// Writes an image as PNG, its top row first.
/// \return what went wrong; empty where nothing did
std::string write_png(const Image& image, const std::string& file);

/// An animated GIF, frame by frame. It has 252 colours, the same for all frames, and a dither between them.
class GifWriter {
 public:
  /// Begins the file: `error()` says whether that worked.
  GifWriter(const std::string& file, int width, int height);
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;
  ~GifWriter();

  /// Adds a frame that is shown for a thirtieth of a second, or nearly: the format counts in hundredths.
  void add(const Image& image);
  /// Ends the file.
  /// \return what went wrong; empty where nothing did
  std::string finish();

 private:
  void word(unsigned value);
  void compress(const std::vector<std::uint8_t>& pixels);

  std::string name_;
  std::FILE* out_ = nullptr;
  int width_, height_;
  std::string error_;
};
