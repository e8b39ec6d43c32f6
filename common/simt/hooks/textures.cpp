// Reads of textures and accesses to surfaces by kernels. They are carried out at once, and neither counted nor held against stores.
#include "memory/textures.h"

#include <simt/surfaces.h>
#include <simt/textures.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "report/log.h"

namespace simt {
namespace {

using textures::Texture;

// "tex1Dfetch", "tex2DLayered", ...
std::string name_of(const detail::TextureCall& call) {
  if (call.dimensions == 0) return "tex1Dfetch";
  return "tex" + std::to_string(call.dimensions) + "D" + (call.layered ? "Layered" : "");
}
// "surf2Dread", "surf1DLayeredwrite", ...
std::string name_of(const detail::SurfaceCall& call) {
  return "surf" + std::to_string(call.dimensions) + "D" + (call.layered ? "Layered" : "") +
         (call.write ? "write" : "read");
}

// What it reads or accesses, and with which function.
std::string text_of(const Texture& texture) {
  if (texture.dimensions == 0) return "linear memory, which tex1Dfetch reads";
  const auto dimensions = static_cast<uint8_t>(texture.dimensions);
  static constexpr const char* kCounts[] = {"one dimension", "two dimensions", "three dimensions"};
  const bool layered = texture.layers > 0;
  std::string text = layered ? "a CUDA array of layers of " : "a CUDA array of ";
  text += kCounts[dimensions - 1];
  if (!texture.is_surface && dimensions == 2 && !layered) text += " or pitched memory";
  std::string function =
      name_of(detail::TextureCall{dimensions, 1, texture.floating, layered}) + " reads";
  if (texture.is_surface) {
    const detail::SurfaceCall call{dimensions, layered, false, 1, cudaBoundaryModeTrap};
    function = name_of(call) + " and its like access";
  }
  return text + ", which " + function;
}

int channels_of(const cudaChannelFormatDesc& format) {
  return format.w ? 4 : format.z ? 3 : format.y ? 2 : 1;
}

// What is wrong with such an access, and the address that it is about; the sentence goes on with where that is.
struct Wrong {
  std::string text = {};
  uint64_t address = 0;
};
template <class Call>
Wrong wrong_object(const Texture* texture, unsigned long long object, const Call& call) {
  constexpr bool surface = std::is_same_v<Call, detail::SurfaceCall>;
  const std::string what = surface ? "surface" : "texture";
  if (!texture) return {" of what is no " + what + " object"};
  if (texture->is_surface != surface)
    return {" of a " + std::string(surface ? "texture" : "surface") + " object"};
  if (texture->destroyed || texture->object != object)
    return {" of a " + what + " object that was destroyed"};
  if (texture->dimensions != call.dimensions || (texture->layers > 0) != call.layered)
    return {" of a " + what + " of " + text_of(*texture)};
  return {};
}
Wrong wrong_memory(const Texture& texture) {
  if (const uint64_t version = memory::version(); texture.checked != version) {
    const memory::Allocation* const found = memory::find(texture.base);
    if (found && found->freed) return {" of memory that was freed", texture.base};
    texture.checked = version;
  }
  return {};
}
Wrong wrong_with(const Texture* texture, cudaTextureObject_t object,
                 const detail::TextureCall& call) {
  if (Wrong wrong = wrong_object(texture, object, call); !wrong.text.empty()) return wrong;
  if (texture->floating != call.floating) {
    return {texture->floating
                ? " of integers from a texture whose reads give floats"
                : " of floats from a texture of integers without cudaReadModeNormalizedFloat"};
  }
  if (const int channels = channels_of(texture->format); call.channels > channels) {
    return {" of " + std::to_string(call.channels) + " channels from a texture of " +
            std::to_string(channels)};
  }
  return wrong_memory(*texture);
}

// Where an access to a surface falls.
struct Place {
  int64_t x, y, z;
  bool is_inside;
};
Place place_of(const Texture& surface, const detail::SurfaceCall& call, int64_t x, int64_t y,
               int64_t z) {
  const int64_t row = surface.extent[0] * static_cast<int64_t>(surface.texel_bytes);
  const int64_t most[] = {row - call.bytes, call.dimensions > 1 ? surface.extent[1] - 1 : 0,
                          call.layered          ? surface.layers - 1
                          : call.dimensions > 2 ? surface.extent[2] - 1
                                                : 0};
  Place place{x, y, z, most[0] >= 0};
  int64_t* const at[] = {&place.x, &place.y, &place.z};
  for (int d = 0; d < 3; ++d) {
    const int64_t inside = std::clamp<int64_t>(*at[d], 0, std::max<int64_t>(most[d], 0));
    if (*at[d] == inside) continue;
    if (call.mode == cudaBoundaryModeClamp) {
      *at[d] = inside;
    } else {
      place.is_inside = false;
    }
  }
  return place;
}

std::string text_of(const Texture& surface, const detail::SurfaceCall& call, int x, int y, int z) {
  std::string text = " at byte " + std::to_string(x) + " of a row";
  if (call.dimensions > 1) text += ", row " + std::to_string(y);
  if (call.layered || call.dimensions > 2)
    text += (call.layered ? ", layer " : ", plane ") + std::to_string(z);
  text += ", of a surface of " + std::to_string(surface.extent[0]);
  if (call.dimensions > 1) text += " x " + std::to_string(surface.extent[1]);
  if (call.dimensions > 2) text += " x " + std::to_string(surface.extent[2]);
  text += " elements of " + std::to_string(surface.texel_bytes) +
          (surface.texel_bytes == 1 ? " byte" : " bytes");
  if (call.layered) text += " in " + std::to_string(surface.layers) + " layers";
  return text;
}
Wrong wrong_with(const Texture* surface, cudaSurfaceObject_t object,
                 const detail::SurfaceCall& call, int x, int y, int z) {
  if (Wrong wrong = wrong_object(surface, object, call); !wrong.text.empty()) return wrong;
  if (x % call.bytes != 0) {
    return {" of " + std::to_string(call.bytes) + " bytes" + text_of(*surface, call, x, y, z) +
            ": x counts bytes and must be a multiple of the value's size, so write x * sizeof(T)"};
  }
  if (call.mode == cudaBoundaryModeTrap && !place_of(*surface, call, x, y, z).is_inside) {
    return {" of " + std::to_string(call.bytes) + (call.bytes == 1 ? " byte" : " bytes") +
            text_of(*surface, call, x, y, z) +
            ": beyond its edge, where cudaBoundaryModeTrap ends the kernel"};
  }
  return wrong_memory(*surface);
}

void note_once(std::atomic<bool>& noted, const char* sentence) {
  // What a launch accesses so is not among what makes it the repetition of another.
  engine::Hooks::note_texture();
  if (noted.load(std::memory_order_relaxed)) [[likely]]
    return;
  const HostMemory bookkeeping;
  if (!noted.exchange(true)) device::note_uncounted(sentence);
}

// Ends the kernel if such an access is wrong.
template <class Call, class... Place>
void check(const Texture* texture, unsigned long long object, const Call& call, const void* pc,
           Place... place) {
  const char* text = nullptr;
  uint64_t address = 0;
  {
    const HostMemory bookkeeping;
    if (const Wrong wrong = wrong_with(texture, object, call, place...); !wrong.text.empty()) {
      text = strdup((name_of(call) + wrong.text).c_str());  // for good
      address = wrong.address;
    }
  }
  if (text) engine::Hooks::trap(text, pc, engine::Fault::Kind::trap, address);
}

// The texture, if it may be read so; else the kernel ends.
const Texture& checked(cudaTextureObject_t object, const detail::TextureCall& call,
                       const void* pc) {
  const Texture* const texture = textures::find_texture(object);
  check(texture, object, call, pc);
  static std::atomic<bool> noted{false};
  note_once(noted, "Reads of textures (tex1Dfetch, tex2D, ...) are carried out but not counted.");
  return *texture;
}

detail::Texel bits_of(const textures::Channels& channels, bool floating) {
  uint32_t bits[4];
  for (int c = 0; c < 4; ++c) {
    if (floating) {
      std::memcpy(&bits[c], &channels.floats[c], sizeof(bits[c]));
    } else {
      bits[c] = static_cast<uint32_t>(channels.integers[c]);
    }
  }
  return {bits[0], bits[1], bits[2], bits[3]};
}

}  // namespace

detail::Texel detail::fetch_texture(cudaTextureObject_t object, TextureCall call, int x) {
  const Texture& texture = checked(object, call, SIMT_PC);
  return bits_of(textures::fetch(texture, x), call.floating);
}

detail::Texel detail::read_texture(cudaTextureObject_t object, TextureCall call, float x, float y,
                                   float z, int layer) {
  const Texture& texture = checked(object, call, SIMT_PC);
  return bits_of(textures::read(texture, {x, y, z}, layer), call.floating);
}

void detail::access_surface(cudaSurfaceObject_t object, SurfaceCall call, void* value, int x, int y,
                            int z) {
  const Texture* const surface = textures::find_texture(object);
  check(surface, object, call, SIMT_PC, x, y, z);
  static std::atomic<bool> noted{false};
  note_once(noted,
            "Accesses to surfaces (surf2Dread, surf2Dwrite, ...) are carried out but not counted.");
  const Place place = place_of(*surface, call, x, y, z);
  if (!place.is_inside) {
    if (!call.write) std::memset(value, 0, call.bytes);
    return;
  }
  auto* const at = reinterpret_cast<char*>(surface->base) +
                   place.z * static_cast<int64_t>(surface->slice) +
                   place.y * static_cast<int64_t>(surface->pitch) + place.x;
  if (!call.write) {
    std::memcpy(value, at, call.bytes);
    return;
  }
  std::memcpy(at, value, call.bytes);
  // Which elements have been written is not followed.
  if (!surface->written.load(std::memory_order_relaxed)) [[unlikely]] {
    const HostMemory bookkeeping;
    const auto slices = surface->layers ? surface->layers : surface->extent[2];
    memory::mark_written(surface->base, surface->slice * static_cast<uint64_t>(slices));
    surface->written = true;
  }
}

}  // namespace simt
