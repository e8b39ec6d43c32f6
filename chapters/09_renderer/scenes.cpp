#include "scenes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

#include "lab/command_line.h"
#include "lab/inputs.h"
#include "lab/size.h"

namespace {

constexpr float TWO_PI = 6.2831853f;

/// Random numbers for one circle after the other.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  /// Uniform, at least `low` and below `high`.
  float between(float low, float high) {
    const float unit = static_cast<float>(lab::random_bits(seed_, next_++) >> 40) / 16777216.0f;
    return low + (high - low) * unit;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// A circle of random colour.
Circle coloured(Random& random, float x, float y, float z, float radius) {
  const float r = random.between(0, 1), g = random.between(0, 1), b = random.between(0, 1);
  return {x, y, z, r, g, b, radius};
}

/// Uniform positions and radii, far circles first.
void add_random(Scene& scene, Random& random, std::size_t count, float smallest, float largest) {
  const std::size_t before = scene.circles.size();
  for (std::size_t i = 0; i < count; ++i) {
    const float x = random.between(0, 1), y = random.between(0, 1), z = random.between(0, 1);
    scene.circles.push_back(coloured(random, x, y, z, random.between(smallest, largest)));
  }
  std::stable_sort(scene.circles.begin() + static_cast<std::ptrdiff_t>(before), scene.circles.end(),
                   [](const Circle& a, const Circle& b) { return a.z > b.z; });
}

/// Touching circles of one colour in a square grid.
void add_grid(Scene& scene, unsigned side, float first, float pitch, float radius, float z,
              std::array<float, 3> colour) {
  for (unsigned j = 0; j < side; ++j) {
    for (unsigned i = 0; i < side; ++i) {
      scene.circles.push_back({first + pitch * static_cast<float>(i),
                               first + pitch * static_cast<float>(j), z, colour[0], colour[1],
                               colour[2], radius});
    }
  }
}

void add_big(Scene& scene, Random& random, std::size_t count) {
  add_random(scene, random, count, 0.25f, 0.25f);
}

/// Small ones, all of them near the corner at the origin.
void add_little(Scene& scene, Random& random, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = random.between(0, 0.1f), y = random.between(0, 0.1f);
    scene.circles.push_back(coloured(random, x, y, 0, 0.05f));
  }
}

/// Flakes that fall and sway; the nearer, the larger and the faster.
void add_snow(Scene& scene, Random& random, std::size_t count, float seconds) {
  for (std::size_t i = 0; i < count; ++i) {
    const float z = random.between(0, 1), near = 1 - z;
    const float phase = random.between(0, TWO_PI);
    const float fallen = random.between(0, 1) - seconds * (0.05f + 0.15f * near);
    const float x = random.between(0, 1) + 0.01f * std::sin(phase + 2 * seconds);
    const float shade = 0.55f + 0.35f * near;  // of blue, or it would not show on white
    scene.circles.push_back({x, fallen - std::floor(fallen), z, shade - 0.25f, shade, 1,
                             0.002f + 0.008f * near * near});
  }
  std::stable_sort(scene.circles.begin(), scene.circles.end(),
                   [](const Circle& a, const Circle& b) { return a.z > b.z; });
}

/// Balls that fall onto the lower edge and spring back as high as they were.
void add_balls(Scene& scene, Random& random, std::size_t count, float seconds) {
  for (std::size_t i = 0; i < count; ++i) {
    const float radius = random.between(0.02f, 0.06f), height = random.between(0.3f, 0.85f);
    const float half = std::sqrt(2 * height / 1.5f);  // seconds from the top to the bottom
    float t = seconds + random.between(0, 2 * half);
    t = t - 2 * half * std::floor(t / (2 * half)) - half;
    const float y = radius + height - 0.75f * t * t;
    scene.circles.push_back(coloured(random, random.between(radius, 1 - radius), y, 0, radius));
  }
}

/// Rockets that burst, one after the other, into sparks that fall and shrink.
void add_fireworks(Scene& scene, Random& random, std::size_t count, float seconds) {
  constexpr std::size_t SPARKS = 64;
  for (std::size_t made = 0; made < count; made += SPARKS) {
    const float x = random.between(0.15f, 0.85f), y = random.between(0.5f, 0.85f);
    const float start = random.between(0, 2);
    const float age = seconds + start - 2 * std::floor((seconds + start) / 2);  // 0 to 2 seconds
    const Circle colour = coloured(random, 0, 0, 0, 0);
    for (std::size_t i = 0; i < std::min(SPARKS, count - made); ++i) {
      const float angle = random.between(0, TWO_PI), speed = random.between(0.05f, 0.2f);
      const float radius = 0.008f * (1 - age / 2) + 0.001f;
      scene.circles.push_back({x + speed * age * std::cos(angle),
                               y + speed * age * std::sin(angle) - 0.05f * age * age, 0, colour.r,
                               colour.g, colour.b, radius});
    }
  }
}

/// The fields of a line, with spaces or tabs between them.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0;;) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) return fields;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
}

}  // namespace

const std::vector<SceneKind>& scene_kinds() {
  static const std::vector<SceneKind> kinds = {
      {"rgb", 3, false, false, "a red, a green and a blue circle that overlap"},
      {"rgby", 4, false, false, "the same, and a yellow one on top"},
      {"pattern", 1217, false, false,
       "a grid of 16 x 16 red circles under one of 31 x 31 yellow ones"},
      {"rand10k", 10000, true, false,
       "anywhere in the unit square, radius .02 to .08, sorted by depth"},
      {"rand100k", 100000, true, false, "the same, ten times as many"},
      {"rand1M", 1000000, true, false, "the same, radius .009 to .014"},
      {"biglittle", 10000, true, false,
       "9,000 of radius .25, then 1,000 of radius .05 in one corner"},
      {"littlebig", 10000, true, false, "the same, the 1,000 first"},
      {"micro2M", 2000000, true, false, "radius .001"},
      {"snow", 100000, true, true, "flakes with soft edges, small in the distance; moves"},
      {"balls", 12, true, true, "bouncing balls; moves"},
      {"fireworks", 1024, true, true, "rockets of 64 sparks; moves"},
  };
  return kinds;
}

namespace {

/// What NAME or NAME=COUNT asks for.
struct Asked {
  std::string_view word;
  std::size_t count;
};

Asked asked_for(const std::string& name) {
  const std::string_view word = std::string_view(name).substr(0, name.find('='));
  std::vector<std::string> names;
  const SceneKind* kind = nullptr;
  for (const SceneKind& one : scene_kinds()) {
    names.emplace_back(one.name);
    if (one.name == word) kind = &one;
  }
  if (kind == nullptr) {
    const auto near = lab::nearest(word, names);
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    throw lab::BadInput("--scene '" + name + "': there is no such scene" +
                        (near ? "; did you mean '" + *near + "'?" : "") + "; legal are " + all);
  }
  std::size_t count = kind->circles;
  if (word.size() < name.size()) {
    std::uint64_t asked = 0;
    if (!lab::parse_number(std::string_view(name).substr(word.size() + 1), asked) || asked == 0 ||
        asked > 100000000) {
      throw lab::BadInput("--scene '" + name + "': legal is " + std::string(word) +
                          "=COUNT, a whole number from 1 to 100000000");
    }
    if (!kind->scales) {
      throw lab::BadInput("--scene '" + name + "': " + std::string(word) +
                          " always has the same circles");
    }
    count = asked;
  }
  return {kind->name, count};
}

}  // namespace

void check_scene_name(const std::string& name) { asked_for(name); }

Scene make_scene(const std::string& name, std::uint64_t seed, unsigned frame) {
  const auto [word, count] = asked_for(name);
  Scene scene{.name = name, .circles = {}};
  scene.circles.reserve(count);
  Random random(seed);
  const float seconds = static_cast<float>(frame) / 30.0f;
  if (word == "rgb" || word == "rgby") {
    scene.circles = {{.4f, .5f, .75f, 1, 0, 0, .3f},
                     {.5f, .5f, .5f, 0, 1, 0, .3f},
                     {.6f, .5f, .25f, 0, 0, 1, .3f}};
    if (word == "rgby") scene.circles.push_back({.5f, .4f, .1f, 1, 1, 0, .3f});
  } else if (word == "pattern") {
    add_grid(scene, 16, 1 / 32.0f, 1 / 16.0f, 1 / 32.0f, 1, {1, 0, 0});
    add_grid(scene, 31, 0, 1 / 32.0f, 1 / 32.0f, 0, {1, 1, 0});
  } else if (word == "rand10k" || word == "rand100k") {
    add_random(scene, random, count, 0.02f, 0.08f);
  } else if (word == "rand1M") {
    add_random(scene, random, count, 0.009f, 0.014f);
  } else if (word == "micro2M") {
    add_random(scene, random, count, 0.001f, 0.001f);
  } else if (word == "biglittle") {
    add_big(scene, random, count - count / 10);
    add_little(scene, random, count / 10);
  } else if (word == "littlebig") {
    add_little(scene, random, count / 10);
    add_big(scene, random, count - count / 10);
  } else if (word == "snow") {
    scene.soft = true;
    add_snow(scene, random, count, seconds);
  } else if (word == "balls") {
    add_balls(scene, random, count, seconds);
  } else {
    add_fireworks(scene, random, count, seconds);
  }
  return scene;
}

Scene load_scene(const std::string& file) {
  errno = 0;
  std::ifstream in(file);
  if (!in) {
    throw lab::BadInput("--load '" + file +
                        "' cannot be read: " + std::strerror(errno == 0 ? EIO : errno));
  }
  Scene scene{.name = file.substr(file.find_last_of('/') + 1), .circles = {}};
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto bad = [&](const std::string& why) {
      return lab::BadInput("--load: " + file + ":" + std::to_string(number) + ": " + why);
    };
    const auto fields = fields_of(std::string_view(line).substr(0, line.find('#')));
    if (fields.empty()) continue;
    if (fields.size() != 7) {
      throw bad("a circle has 7 numbers, x y z r g b radius; there are " +
                std::to_string(fields.size()));
    }
    std::array<float, 7> values{};
    for (std::size_t i = 0; i < 7; ++i) {
      const char* const end = fields[i].data() + fields[i].size();
      const auto [stop, error] = std::from_chars(fields[i].data(), end, values[i]);
      if (error != std::errc{} || stop != end || !std::isfinite(values[i])) {
        throw bad("'" + std::string(fields[i]) + "' is not a finite number");
      }
    }
    const auto [x, y, z, r, g, b, radius] = values;
    if (std::min({r, g, b}) < 0 || std::max({r, g, b}) > 1) {
      throw bad("a colour is out of range; legal is from 0 to 1");
    }
    if (!(radius > 0)) throw bad("the radius is not positive");
    if (std::max({std::abs(x), std::abs(y), std::abs(z), radius}) > 1e6f) {
      throw bad("a position or radius is larger than 1000000");
    }
    scene.circles.push_back({x, y, z, r, g, b, radius});
  }
  if (in.bad()) throw lab::BadInput("--load '" + file + "' cannot be read: is it a folder?");
  if (scene.circles.empty()) throw lab::BadInput("--load '" + file + "': there is no circle in it");
  return scene;
}

void save_scene(const Scene& scene, const std::string& file) {
  errno = 0;
  std::FILE* const out = std::fopen(file.c_str(), "w");
  if (out != nullptr) {
    std::fprintf(out, "# %s: %zu circles\n# x y z r g b radius\n", scene.name.c_str(),
                 scene.circles.size());
    for (const Circle& c : scene.circles) {
      std::fprintf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", c.x, c.y, c.z, c.r, c.g, c.b,
                   c.radius);
    }
    const bool failed = std::ferror(out) != 0;
    if (std::fclose(out) == 0 && !failed) return;
  }
  throw lab::BadInput("--save '" + file + "' cannot be written: " + std::strerror(errno));
}
