/// \file
/// Neighbouring members of an aligned struct that nvcc loads or stores by one instruction.
///
/// `in[i].x + in[i].y` are two loads to g++, and one of 64 bits to nvcc where the struct is aligned to 8 bytes or more. Both know
/// the alignment from the type alone; g++ writes it down in the calls of -fsanitize=alignment.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

/// How nvcc splits `count` neighbouring accesses of `size` bytes, the first of them `first` bytes behind an address that is a multiple
/// of `alignment`: the width of each piece, in bytes. The last piece of loads may be wider than what is left.
std::vector<unsigned> widths_of_pieces(bool stores, unsigned size, unsigned alignment,
                                       unsigned first, unsigned count);

/// Writes into assembly that g++ has made for x86-64 which accesses are parts of one: in the section simt_merged, which
/// count/merged_accesses.h reads. Copies of aligned structs of more than 16 bytes are told how wide their pieces may be. Accesses to
/// blockDim and gridDim, registers to a kernel, go.
///
/// Followed are accesses of a stretch of code that is left and entered at its ends alone, from one pointer and in one type. A store
/// in between that may change what is loaded parts them: any but to the same struct, or to another member of the same type.
///
/// \param array_classes classes with arrays in them, of whose elements nvcc knows less than of members
std::string with_merged_accesses(std::string_view assembly,
                                 const std::set<std::string>& array_classes);

}  // namespace simtcc
