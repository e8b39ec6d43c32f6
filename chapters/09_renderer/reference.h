/// \file
/// What the image must be: painted by another algorithm, in double precision, and how far a float may be off.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/verify.h"
#include "scenes.h"

/// Before a function of the host: a copy of it uses the processor's FMA instruction, where there is one. Without the
/// instruction each `fmaf` is a call of the C library.
#ifdef __x86_64__
#define WITH_HOST_FMA __attribute__((target_clones("default", "fma")))
#else
#define WITH_HOST_FMA  // others have it anyway
#endif

/// An image of RGBA pixels, row 0 at the bottom. A is the coverage: 1 less what the circles let through.
struct Image {
  int width = 0, height = 0;
  std::vector<float> rgba;  // (height, width, 4)
};

/// The right image of a scene, and how many layers of it can be seen.
struct Reference {
  Image image;
  std::vector<unsigned> visible;  ///< for each pixel: circles that less than 24 halvings hide
  bool soft = false;
};

/// Paints a scene from the nearest circle to the farthest, in double precision, on all cores.
Reference paint(const Scene& scene, int width, int height);

/// How far each float of an image may be off.
std::vector<double> allowed_errors(const Reference& want);

/// Which pixel of an image is wrong, and how many layers it has.
/// \param found what a comparison of its floats found
/// \param got the first of them that is wrong
std::string describe_mismatch(const lab::Comparison& found, float got, const Reference& want);

/// Compares an image with the reference: no channel of a pixel may be off by more than 4 roundings for each of
/// its visible layers and 4 more; soft circles have 16 for each, most of them in the exponential. The errors of the
/// result are in units of what is allowed.
lab::Comparison compare_image(const std::vector<float>& rgba, const Reference& want);
