// Reads of textures by kernels. They are carried out at once, and neither counted nor held against stores.
#include "memory/textures.h"

#include <simt/textures.h>

#include <atomic>
#include <cstring>
#include <string>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "report/log.h"

namespace simt {
namespace {

using textures::Texture;

// "tex1Dfetch", "tex2D", ...
std::string name_of(const detail::TextureCall& call) {
  if (call.dimensions == 0) return "tex1Dfetch";
  return "tex" + std::to_string(call.dimensions) + "D";
}
// What it reads, and with which function.
std::string text_of(const Texture& texture) {
  if (texture.dimensions == 0) return "linear memory, which tex1Dfetch reads";
  return texture.dimensions == 1
             ? "a CUDA array of one dimension, which tex1D reads"
             : "a CUDA array of two dimensions or pitched memory, which tex2D reads";
}

int channels_of(const cudaChannelFormatDesc& format) {
  return format.w ? 4 : format.z ? 3 : format.y ? 2 : 1;
}

// What is wrong with such an access, and the address that it is about; the sentence goes on with where that is.
struct Wrong {
  std::string text = {};
  uint64_t address = 0;
};
Wrong wrong_object(const Texture* texture, cudaTextureObject_t object,
                   const detail::TextureCall& call) {
  if (!texture) return {" of what is no texture object"};
  if (texture->destroyed || texture->object != object)
    return {" of a texture object that was destroyed"};
  if (texture->dimensions != call.dimensions) return {" of a texture of " + text_of(*texture)};
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

void note_once() {
  // What a launch reads so is not among what makes it the repetition of another.
  engine::Hooks::note_texture();
  static std::atomic<bool> noted{false};
  if (noted.load(std::memory_order_relaxed)) [[likely]]
    return;
  const HostMemory bookkeeping;
  if (!noted.exchange(true)) {
    device::note_uncounted(
        "Reads of textures (tex1Dfetch, tex2D, ...) are carried out but not counted.");
  }
}

// The texture, if it may be read so; else the kernel ends.
const Texture& checked(cudaTextureObject_t object, const detail::TextureCall& call,
                       const void* pc) {
  const Texture* const texture = textures::find_texture(object);
  const char* text = nullptr;
  uint64_t address = 0;
  {
    const HostMemory bookkeeping;
    if (const Wrong wrong = wrong_with(texture, object, call); !wrong.text.empty()) {
      text = strdup((name_of(call) + wrong.text).c_str());  // for good
      address = wrong.address;
    }
  }
  if (text) engine::Hooks::trap(text, pc, engine::Fault::Kind::trap, address);
  note_once();
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

detail::Texel detail::read_texture(cudaTextureObject_t object, TextureCall call, float x, float y) {
  const Texture& texture = checked(object, call, SIMT_PC);
  return bits_of(textures::read(texture, {x, y}), call.floating);
}

}  // namespace simt
