#include "program/program_image.h"

#include <link.h>

namespace simt::engine {
namespace {

int read_segments(dl_phdr_info* info, size_t, void* out) {
  auto& image = *static_cast<ProgramImage*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      image.first = std::min(image.first, begin);
      if (header.p_flags & PF_X) image.code_end = begin + header.p_memsz;
      if (header.p_flags & PF_W) {
        image.data_begin = begin;
        image.data_end = begin + header.p_memsz;
      }
    } else if (header.p_type == PT_TLS) {
      image.tls_size = (header.p_memsz + header.p_align - 1) / header.p_align * header.p_align;
    }
  }
  return 1;  // the first object is the program itself
}

}  // namespace

const ProgramImage& program_image() {
  static const ProgramImage found = [] {
    ProgramImage image;
    dl_iterate_phdr(read_segments, &image);
    return image;
  }();
  return found;
}

}  // namespace simt::engine
