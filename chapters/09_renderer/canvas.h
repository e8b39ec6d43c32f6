/// \file
/// What the rungs of chapter 09 draw and are checked with: scenes in device memory, their references, the options.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/lab.h"
#include "reference.h"
#include "scenes.h"

/// What all kernels have to know: they find it in constant memory.
struct Frame {
  int width, height;     ///< of the image, in pixels
  float unit;            ///< pixels in a unit of length: the longer side
  float scale;           ///< 1 / unit
  unsigned circles;      ///< how many there are
  bool soft;             ///< alpha falls off from the centre
  const float4* place;   ///< x, y, radius of each circle; w is not used
  const float4* colour;  ///< r, g, b of each circle; w is not used
  float4* image;         ///< (height, width)
};

/// A scene in device memory, and the image that it must become.
class Stage {
 public:
  Stage(Scene scene, lab::DeviceBuffer<float4>& image, int width, int height);
  /// The reference, painted when it is first asked for.
  const Reference& reference() const;
  /// What an image in device memory has to be.
  lab::Expectation expected(lab::DeviceBuffer<float4>& image) const;

  Scene scene;
  Frame frame;

 private:
  lab::DeviceBuffer<float4> place_, colour_;
  mutable std::optional<Reference> reference_;
  mutable std::shared_ptr<const lab::Reference<float>> want_;  // the same where kernels run
  mutable std::shared_ptr<const lab::Reference<double>>
      allowed_;  // what each of its floats may be off
};

/// What the options of this chapter ask for.
struct Asked {
  std::vector<std::string> names;  ///< scenes to be made
  std::vector<Scene> loaded;       ///< scenes from files
  std::string save, image, gif;    ///< files to be written
  unsigned frames = 0;             ///< 0: as many as the file usually has
  bool soft = false;
  bool list = false;  ///< the scenes are to be listed

  /// The options; they must not outlive this object.
  std::vector<lab::OwnOption> options();
  /// \throws lab::BadInput where they do not go together
  void check() const;
  /// Whether they ask for images, or for a scene to be saved, instead of the ladder.
  bool wants_files() const;
};

/// The ladder of this chapter: each `add` runs a rung, once for each scene.
class Canvas {
 public:
  using Launch = std::function<void()>;
  /// Prepares what a rung needs for a scene, and returns what draws it.
  using Make = std::function<Launch(const Stage&)>;

  /// \param set_frame copies a frame to constant memory
  /// \throws lab::BadInput where the options do not go together
  Canvas(lab::Ladder& ladder, Asked asked, std::function<void(const Frame&)> set_frame);

  /// Runs a kernel.
  /// \param most_work it is left out for a scene that needs more circles x pixels than this
  void add(std::string_view name, const Make& make, double most_work = 1e18);
  /// Runs a function of the host, that draws into an image.
  /// \param most_layers it is left out for a scene with more circles on the average pixel, times pixels, than this
  void add_host(std::string_view name, const std::function<void(float4*, const Stage&)>& draw,
                double most_layers);
  /// Runs a demonstration, on the first scene.
  void demonstrate(std::string_view name, const Make& make);

  /// Does what else the options ask for: lists the scenes, or writes files, drawn by the first rung that `--rung` names.
  /// Called when all rungs were added.
  void finish();

 private:
  struct Known {
    std::string name;
    Make make;
  };
  /// Whether a rung is to be run; if not, it is taken note of.
  bool takes(std::string_view name, const Make& make);
  /// Writes the files, drawn by the first rung that `--rung` names, else by the reference; tells what is in them.
  /// \throws lab::BadInput where one cannot be written
  void write_files();
  /// The first rung that `--rung` names, or nullptr for the reference.
  const Known* drawing_rung() const;
  Image draw(Scene scene);

  lab::Ladder& ladder_;
  Asked asked_;
  std::function<void(const Frame&)> set_frame_;
  int width_, height_;
  lab::DeviceBuffer<float4> image_;
  std::vector<std::shared_ptr<const Stage>> stages_;
  std::vector<Known> known_;
};
