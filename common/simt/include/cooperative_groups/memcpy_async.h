/// \file
/// Asynchronous copies from global to shared memory, made by a group together.
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

#include <cuda/aligned_size>

namespace cooperative_groups {

namespace details {

template <class T, class Group>
SIMT_INLINE void copy_plain(const Group& group, char* to, const char* from, std::size_t bytes) {
  const auto stride = static_cast<std::size_t>(group.size());
  for (auto i = static_cast<std::size_t>(group.thread_rank()); i < bytes / sizeof(T); i += stride) {
    reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[i];
  }
}

/// Pieces of 4, 8 or 16 bytes, neighbouring ones by neighbouring threads.
template <unsigned int Piece, class Group>
SIMT_INLINE void copy_pieces(const Group& group, char* to, const char* from, std::size_t bytes) {
  const auto stride = static_cast<std::size_t>(group.size());
  for (auto i = static_cast<std::size_t>(group.thread_rank()); i < bytes / Piece; i += stride) {
    simt::detail::copy_async(to + i * Piece, from + i * Piece, Piece, 0);
  }
}

/// The same for data whose ends need not be aligned to the piece.
template <unsigned int Piece, class Group>
SIMT_INLINE void copy_like(const Group& group, char* to, const char* from, std::size_t bytes) {
  const std::size_t head = (0 - reinterpret_cast<std::size_t>(from)) & (Piece - 1);
  copy_plain<char>(group, to, from, head);
  const std::size_t body = (bytes - head) / Piece * Piece;
  copy_pieces<Piece>(group, to + head, from + head, body);
  copy_plain<char>(group, to + head + body, from + head + body, bytes - head - body);
}

/// In the widest pieces that the two addresses allow, which are known to be aligned to `Known`.
template <std::size_t Known, class Group>
SIMT_INLINE void copy_bytes(const Group& group, void* to, const void* from, std::size_t bytes) {
  auto* const t = static_cast<char*>(to);
  auto* const f = static_cast<const char*>(from);
  if constexpr (Known >= 4) {
    copy_pieces<Known >= 16 ? 16 : Known>(group, t, f, bytes);
  } else {
    const std::size_t apart =
        reinterpret_cast<std::size_t>(to) ^ reinterpret_cast<std::size_t>(from);
    std::size_t piece = apart & 15 ? apart & (0 - apart) & 15 : 16;
    if (bytes < piece) piece = Known;
    if (piece >= 16) {
      copy_like<16>(group, t, f, bytes);
    } else if (piece == 8) {
      copy_like<8>(group, t, f, bytes);
    } else if (piece == 4) {
      copy_like<4>(group, t, f, bytes);
    } else if (piece == 2 && Known == 2) {
      copy_plain<short>(group, t, f, bytes);
    } else {
      copy_plain<char>(group, t, f, bytes);
    }
  }
}

template <class T>
inline constexpr std::size_t known_alignment = alignof(T);
template <>
inline constexpr std::size_t known_alignment<void> = 1;
template <>
inline constexpr std::size_t known_alignment<const void> = 1;

}  // namespace details

/// Begins to copy `bytes` bytes; all threads of the group take part. wait() says when they are there.
template <class Group, class T>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
  details::copy_bytes<details::known_alignment<T>>(group, to, from, bytes);
  __pipeline_commit();
}
/// The same of data whose alignment is known.
template <class Group, class T, std::size_t Alignment>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from,
                              const cuda::aligned_size_t<Alignment>& bytes) {
  details::copy_bytes<Alignment>(group, to, from, bytes);
  __pipeline_commit();
}
/// Copies elements: as many as both sides have.
template <class Group, class T>
SIMT_INLINE void memcpy_async(const Group& group, T* to, std::size_t to_count, const T* from,
                              std::size_t from_count) {
  const std::size_t count = to_count < from_count ? to_count : from_count;
  details::copy_bytes<alignof(T)>(group, to, from, count * sizeof(T));
  __pipeline_commit();
}
template <class Group, class T, std::size_t Alignment>
SIMT_INLINE void memcpy_async(const Group& group, T* to,
                              const cuda::aligned_size_t<Alignment>& to_count, const T* from,
                              const cuda::aligned_size_t<Alignment>& from_count) {
  const std::size_t a = to_count, b = from_count;
  details::copy_bytes<Alignment>(group, to, from, (a < b ? a : b) * sizeof(T));
  __pipeline_commit();
}

/// Waits for all copies of the group but the last `Stage`, and for the group.
template <unsigned int Stage, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
  __pipeline_wait_prior(Stage);
  group.sync();
}
/// Waits for all copies of the group, and for the group.
template <class Group>
SIMT_INLINE void wait(const Group& group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups
