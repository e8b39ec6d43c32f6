/// \file
/// Scenes of circles: made from a seed, read from a file, written to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A circle, as a file has it: `x y z r g b radius`. Positions and radii are in units of the longer side of the image,
/// y upwards; z is the distance, 0 the nearest, and only scenes are sorted by it: circles are drawn in their order.
struct Circle {
  float x, y, z;
  float r, g, b;  ///< from 0 to 1
  float radius;
};

/// What is drawn, the first circle below all others.
struct Scene {
  std::string name;
  std::vector<Circle> circles;
  bool soft = false;  ///< alpha falls off from the centre, as in snow
};

/// A scene that the program can make.
struct SceneKind {
  std::string_view name;
  std::size_t circles;       ///< how many it has where nothing else is asked for
  bool scales;               ///< whether NAME=COUNT may ask for another number
  bool moves;                ///< whether the frames of an animation differ
  std::string_view summary;  ///< one line
};

/// All of them.
const std::vector<SceneKind>& scene_kinds();

/// \throws lab::BadInput where `make_scene` would, but makes nothing
void check_scene_name(const std::string& name);

/// Makes a scene.
/// \param name that of a kind, or NAME=COUNT for another number of circles
/// \param seed which random circles
/// \param frame of the animation, at 30 frames a second; only snow, balls and fireworks move
/// \throws lab::BadInput where there is no such scene
Scene make_scene(const std::string& name, std::uint64_t seed, unsigned frame = 0);

/// Reads a scene: a circle a line, `x y z r g b radius`; `#` begins a comment.
/// \throws lab::BadInput with the file and the line of what is wrong
Scene load_scene(const std::string& file);

/// Writes a scene so that `load_scene` reads the same circles.
/// \throws lab::BadInput where the file cannot be written
void save_scene(const Scene& scene, const std::string& file);
