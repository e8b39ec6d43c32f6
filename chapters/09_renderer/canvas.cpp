#include "canvas.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "images.h"

namespace {

constexpr unsigned MOST_FRAMES = 10000;
const std::string default_scene = "rgb";  // of a file

// Scenes that show everything and are small enough for the simulator, and those that are timed.
const std::vector<std::string> SMALL = {"rgb", "rand10k=600", "biglittle=600", "micro2M=900",
                                        "snow=300"};
const std::vector<std::string> TIMED = {"rgb",       "pattern", "rand10k", "rand100k", "biglittle",
                                        "littlebig", "rand1M",  "micro2M", "snow"};

Frame frame_of(const Scene& scene, int width, int height) {
  const float unit = static_cast<float>(std::max(width, height));
  return {.width = width,
          .height = height,
          .unit = unit,
          .scale = 1 / unit,
          .circles = static_cast<unsigned>(scene.circles.size()),
          .soft = scene.soft,
          .place = nullptr,
          .colour = nullptr,
          .image = nullptr};
}

std::vector<float> floats_of(const std::vector<float4>& pixels) {
  std::vector<float> floats;
  floats.reserve(4 * pixels.size());
  for (const float4& p : pixels) floats.insert(floats.end(), {p.x, p.y, p.z, p.w});
  return floats;
}

/// "anything.png" and 7 make "anything-0007.png".
std::string numbered(const std::string& file, unsigned frame) {
  const std::size_t dot = file.find_last_of('.'), slash = file.find_last_of('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::size_t at = has_ending ? dot : file.size();
  return file.substr(0, at) + lab::format("-%04u", frame) + file.substr(at);
}

/// "snow" of "snow=300".
std::string_view word_of(std::string_view name) { return name.substr(0, name.find('=')); }

/// The sum of the circles' areas, in pixels, each at most the image: about so many layers are to be drawn.
double layers_of(const Stage& stage) {
  const double pixels = static_cast<double>(stage.frame.width) * stage.frame.height;
  double sum = 0;
  for (const Circle& circle : stage.scene.circles) {
    const double radius = static_cast<double>(circle.radius * stage.frame.unit);
    sum += std::min(3.14159 * radius * radius, pixels) + 1;
  }
  return sum;
}

}  // namespace

Stage::Stage(Scene a_scene, lab::DeviceBuffer<float4>& image, int width, int height)
    : scene(std::move(a_scene)),
      frame(frame_of(scene, width, height)),
      place_(scene.circles.size(), "place"),
      colour_(scene.circles.size(), "colour") {
  std::vector<float4> place, colour;
  for (const Circle& c : scene.circles) {
    place.push_back({c.x, c.y, c.radius, 0});
    colour.push_back({c.r, c.g, c.b, 0});
  }
  place_.upload(place);
  colour_.upload(colour);
  frame.place = place_.data();
  frame.colour = colour_.data();
  frame.image = image.data();
}

const Reference& Stage::reference() const {
  if (!reference_) reference_ = paint(scene, frame.width, frame.height);
  return *reference_;
}

lab::Expectation Stage::expected(lab::DeviceBuffer<float4>& image) const {
  if (!want_) {
    want_ = std::make_shared<const lab::Reference<float>>(reference().image.rgba);
    allowed_ = std::make_shared<const lab::Reference<double>>(allowed_errors(reference()));
  }
  lab::Check check;
  check.tolerance.basis = "roundings for each visible layer";
  check.allowed = allowed_;
  lab::Expectation expectation = lab::expect(image, want_, check);
  expectation.check = [this, &image, compare = expectation.check] {
    lab::Comparison found = compare();
    if (!found.pass && found.first_mismatch != lab::Comparison::none) {
      float got = 0;
      CUDA_CHECK(cudaMemcpy(&got,
                            reinterpret_cast<const float*>(image.data()) + found.first_mismatch,
                            sizeof got, cudaMemcpyDeviceToHost));
      found.text = describe_mismatch(found, got, reference());
    }
    return found;
  };
  return expectation;
}

std::vector<lab::OwnOption> Asked::options() {
  const auto file = [](std::string& into, const char* name, std::string_view ending) {
    return [&into, name, ending](const std::string& value) {
      if (value.size() <= ending.size() || !std::string_view(value).ends_with(ending)) {
        throw lab::BadInput(std::string(name) + " '" + value + "': legal is the name of a file" +
                            (ending.empty() ? "" : " that ends in " + std::string(ending)));
      }
      into = value;
    };
  };
  return {
      {"scene", "NAME[=N]", "a scene, with N circles; may be given several times",
       [this](const std::string& value) {
         check_scene_name(value);
         if (std::find(names.begin(), names.end(), value) != names.end()) {
           throw lab::BadInput("--scene '" + value + "' was given twice");
         }
         names.push_back(value);
       }},
      {"load", "FILE", "a scene from a file: x y z r g b radius a line, # begins a comment",
       [this](const std::string& value) {
         if (!loaded.empty()) throw lab::BadInput("--load was given twice: it takes one file");
         loaded.push_back(load_scene(value));
       }},
      {"soft", "", "loaded circles have soft edges", [this](const std::string&) { soft = true; }},
      {"scenes", "", "lists the scenes, and ends", [this](const std::string&) { list = true; }},
      {"save", "FILE", "writes the scene to a file, and ends", file(save, "--save", "")},
      {"image", "FILE.png", "draws the scene, and ends; --rung NAME: by that rung",
       file(image, "--image", ".png")},
      {"gif", "FILE.gif", "draws the scene as an animation, 30 frames a second, and ends",
       file(gif, "--gif", ".gif")},
      {"frames", "N", "of an animation; default 60 for --gif. --image numbers its files then",
       [this](const std::string& value) {
         std::uint64_t number = 0;
         if (!lab::parse_number(value, number) || number == 0 || number > MOST_FRAMES) {
           throw lab::BadInput("--frames '" + value + "': legal is a whole number from 1 to " +
                               std::to_string(MOST_FRAMES));
         }
         frames = static_cast<unsigned>(number);
       }},
  };
}

Canvas::Canvas(lab::Ladder& ladder, Asked asked, std::function<void(const Frame&)> set_frame)
    : ladder_(ladder),
      asked_(std::move(asked)),
      set_frame_(std::move(set_frame)),
      width_(static_cast<int>(ladder.extents<2>()[1])),
      height_(static_cast<int>(ladder.extents<2>()[0])),
      image_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), "image") {
  if (!asked_.list) asked_.check();
  for (Scene& scene : asked_.loaded) scene.soft = asked_.soft;
  if (asked_.wants_files() || asked_.list) return;
  const auto stage = [&](Scene scene) {
    stages_.push_back(std::make_shared<Stage>(std::move(scene), image_, width_, height_));
  };
  if (asked_.names.empty() && asked_.loaded.empty()) {
    // The size at which counts are compared with the simulator's, and the sanitizers run.
    const bool small = ladder.on_simulator() || width_ * height_ <= 90 * 61;
    asked_.names = small ? SMALL : TIMED;
  }
  for (const std::string& name : asked_.names) stage(make_scene(name, ladder.seed()));
  for (const Scene& scene : asked_.loaded) stage(scene);
}

bool Canvas::takes(std::string_view name, const Make& make) {
  known_.push_back({std::string(name), make});
  if (asked_.wants_files() || asked_.list) return false;
  if (!ladder_.wants(name)) ladder_.add({.name = std::string(name)});  // known, and left out
  return ladder_.wants(name);
}

void Canvas::add(std::string_view name, const Make& make, double most_work) {
  if (!takes(name, make)) return;
  const double pixels = static_cast<double>(width_) * height_;
  const double speed = ladder_.on_simulator() ? 1e-3 : 1;
  bool left_out = true;
  for (const auto& stage : stages_) {
    if (stage->frame.circles * pixels > most_work * speed) continue;
    left_out = false;
    ladder_.add({.name = std::string(name),
                 .variant = stage->scene.name,
                 .launch = make(*stage),
                 .outputs = {stage->expected(image_)},
                 .prepare = [&] { set_frame_(stage->frame); },
                 .bytes = 16 * pixels + 32.0 * stage->frame.circles,
                 .limit = lab::Limit::copy});
  }
  if (left_out) ladder_.skip(name, "needs a scene with less work");
}

void Canvas::add_host(std::string_view name, const std::function<void(float4*, const Stage&)>& draw,
                      double most_layers) {
  std::vector<float4> pixels(image_.size());
  const Make into_the_image = [&, draw](const Stage& stage) -> Launch {
    return [this, draw, &stage] {
      std::vector<float4> drawn(image_.size());
      draw(drawn.data(), stage);
      image_.upload(drawn);
    };
  };
  if (!takes(name, into_the_image)) return;
  bool left_out = true;
  for (const auto& stage : stages_) {
    if (layers_of(*stage) > most_layers) continue;
    left_out = false;
    ladder_.add({.name = std::string(name),
                 .variant = stage->scene.name,
                 .launch = [&] { draw(pixels.data(), *stage); },
                 .prepare =
                     [&] {
                       std::fill(pixels.begin(), pixels.end(), float4{-1, -1, -1, -1});
                     },
                 .verify = [&] { return compare_image(floats_of(pixels), stage->reference()); },
                 .bytes = 16.0 * static_cast<double>(pixels.size()) + 32.0 * stage->frame.circles,
                 .clock = lab::Clock::host});
  }
  if (left_out) ladder_.skip(name, "needs a scene with less work");
}

void Canvas::demonstrate(std::string_view name, const Make& make) {
  if (!takes(name, make) || stages_.empty()) return;
  const auto launch = make(*stages_.front());
  ladder_.demonstrate(name,
                      [&] {
                        set_frame_(stages_.front()->frame);
                        launch();
                      },
                      {&image_});
}

void Asked::check() const {
  const std::string loads = loaded.empty() ? "" : loaded.front().name;
  if (soft && loaded.empty()) throw lab::BadInput("--soft goes with --load FILE");
  if (frames != 0 && image.empty() && gif.empty()) {
    throw lab::BadInput("--frames goes with --gif FILE.gif or --image FILE.png");
  }
  if (!wants_files()) return;
  if (names.size() + loaded.size() > 1) {
    const std::string second = names.size() > 1 ? names[1] : loads;
    throw lab::BadInput("a file takes one scene, and there are several: " + names.front() +
                        " and " + second);
  }
  if (frames < 2 && gif.empty()) return;
  std::string moving;
  for (const SceneKind& kind : scene_kinds()) {
    if (!kind.moves) continue;
    if (!names.empty() && kind.name == word_of(names.front())) return;
    (moving += moving.empty() ? "" : ", ") += kind.name;
  }
  if (frames == 1) return;  // a still image
  throw lab::BadInput((names.empty() ? loaded.empty() ? default_scene : loads : names.front()) +
                      " does not move; scenes that do: " + moving + " (--frames 1: a still image)");
}

bool Asked::wants_files() const { return !save.empty() || !image.empty() || !gif.empty(); }

const Canvas::Known* Canvas::drawing_rung() const {
  if (ladder_.wants(""))
    return nullptr;  // without --rung all are, even one that no rung can be called
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& one) { return ladder_.wants(one.name); });
  return known == known_.end() ? nullptr : &*known;
}

Image Canvas::draw(Scene scene) {
  const Known* const known = drawing_rung();
  if (known == nullptr) return paint(scene, width_, height_).image;
  const Stage stage(std::move(scene), image_, width_, height_);
  set_frame_(stage.frame);
  known->make(stage)();
  CUDA_CHECK(cudaGetLastError());
  return {width_, height_, floats_of(image_.download())};
}

void Canvas::write_files() {
  const auto check = [](const char* option, const std::string& wrong) {
    if (!wrong.empty()) throw lab::BadInput(std::string(option) + " " + wrong);
  };
  const auto scene = [&](unsigned frame) {
    if (!asked_.loaded.empty()) return asked_.loaded.front();
    return make_scene(asked_.names.empty() ? default_scene : asked_.names.front(), ladder_.seed(),
                      frame);
  };
  const std::string circles = lab::format("%zu circles", scene(0).circles.size());
  if (!asked_.save.empty()) {
    save_scene(scene(0), asked_.save);
    std::printf("%s: %s\n", asked_.save.c_str(), circles.c_str());
  }
  if (asked_.image.empty() && asked_.gif.empty()) return;

  const unsigned frames = asked_.frames != 0 ? asked_.frames : asked_.gif.empty() ? 1 : 60;
  std::optional<GifWriter> gif;
  if (!asked_.gif.empty()) gif.emplace(asked_.gif, width_, height_);
  for (unsigned frame = 0; frame < frames; ++frame) {
    const Image image = draw(scene(frame));
    if (gif) gif->add(image);
    if (asked_.image.empty()) continue;
    const std::string file = frames == 1 ? asked_.image : numbered(asked_.image, frame + 1);
    check("--image", write_png(image, file));
  }
  if (gif) check("--gif", gif->finish());

  const Known* const rung = drawing_rung();
  const std::string drawn = circles + lab::format(", %d x %d pixels, drawn by ", width_, height_) +
                            (rung != nullptr ? rung->name : "the reference");
  if (!asked_.image.empty() && frames > 1) {
    std::printf("%s to %s: %s\n", numbered(asked_.image, 1).c_str(),
                numbered(asked_.image, frames).c_str(), drawn.c_str());
  } else if (!asked_.image.empty()) {
    std::printf("%s: %s\n", asked_.image.c_str(), drawn.c_str());
  }
  if (gif) {
    std::printf("%s: %u frame%s, %s\n", asked_.gif.c_str(), frames, frames == 1 ? "" : "s",
                drawn.c_str());
  }
  if (std::max(width_, height_) <= 90) std::printf("Larger: --size 600,900 (rows, columns)\n");
}

void Canvas::finish() {
  if (asked_.list) {
    for (const SceneKind& kind : scene_kinds()) {
      std::printf("%-10.*s%8zu  %.*s\n", static_cast<int>(kind.name.size()), kind.name.data(),
                  kind.circles, static_cast<int>(kind.summary.size()), kind.summary.data());
    }
  } else if (asked_.wants_files()) {
    write_files();
  } else {
    return;
  }
  ladder_.instead(0);
}
