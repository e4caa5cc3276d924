#pragma once
// The elements of NumPy's files.
#include <expected>
#include <memory>
#include <string>

#include "stdlib/numbers/byte_source.hpp"
#include "stdlib/numbers/npy.hpp"
#include "vm/value/buffer.hpp"

namespace raddle::stdlib::native {

/// Whether a T (double, int64_t, float, int32_t, bool) holds each of them exactly.
template <typename T>
bool holds_exactly(const NpyHeader& header);

/// All elements as Ts, the rows one after the other. Piece by piece: beside them they are nowhere in memory.
/// @pre holds_exactly()   @error  what is wrong with the file; why they have no room
template <typename T>
std::expected<vm::Buffer::Owner, std::string> read_npy_numbers(ByteSource& source, const NpyHeader& header);

/// The same without reading them before they are used, where the file has them as they lie in memory, and it is worth
/// it. @return null: that can not be
template <typename T>
vm::Buffer::Owner map_npy_numbers(const FileSource& file, const std::string& path, const NpyHeader& header);

}  // namespace raddle::stdlib::native
