#include "stdlib/numbers/npy_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "stdlib/numbers/number_types.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/memory/mapped_file.hpp"
#include "vm/memory/room.hpp"

namespace raddle::stdlib::native {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;  ///< stays in the cache
constexpr std::size_t least_mapped_bytes = std::size_t{1} << 20;

/// Numbers as they stand in a file, to what is wanted.
template <typename T>
using Conversion = void (*)(const std::byte* from, ElementOf<T>* to, std::size_t count);

template <typename Stored, typename T>
void convert(const std::byte* from, ElementOf<T>* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
    to[i] = static_cast<T>(stored);
  }
}

/// @return null: a T does not hold them exactly
template <typename T>
Conversion<T> conversion(const NpyHeader& header) {
  if constexpr (std::is_floating_point_v<T>) {
    if (header.kind != 'f' || header.size > sizeof(T)) return nullptr;
    return header.size == 8 ? convert<double, T> : convert<float, T>;
  } else if constexpr (std::is_same_v<T, bool>) {
    return header.kind == 'b' ? convert<std::uint8_t, T> : nullptr;
  } else if (header.size > sizeof(T) || (header.kind == 'u' && header.size == sizeof(T))) {
    return nullptr;
  } else if (header.kind == 'i') {
    switch (header.size) {
      case 1: return convert<std::int8_t, T>;
      case 2: return convert<std::int16_t, T>;
      case 4: return convert<std::int32_t, T>;
      default: return convert<std::int64_t, T>;
    }
  } else if (header.kind == 'u') {
    switch (header.size) {
      case 1: return convert<std::uint8_t, T>;
      case 2: return convert<std::uint16_t, T>;
      default: return convert<std::uint32_t, T>;
    }
  }
  return nullptr;
}

/// Where elements belong that come column after column.
class RowMajorPlaces {
 public:
  explicit RowMajorPlaces(const std::vector<std::int64_t>& extents)
      : extents_(extents), index_(extents.size(), 0), steps_(extents.size(), 1) {
    for (std::size_t axis = extents.size(); axis-- > 1;) steps_[axis - 1] = steps_[axis] * extents[axis];
  }
  std::size_t next() {
    const std::int64_t place = place_;
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      place_ += steps_[axis];
      if (++index_[axis] < extents_[axis]) break;
      place_ -= steps_[axis] * extents_[axis];
      index_[axis] = 0;
    }
    return static_cast<std::size_t>(place);
  }

 private:
  const std::vector<std::int64_t>& extents_;
  std::vector<std::int64_t> index_, steps_;
  std::int64_t place_ = 0;
};

}  // namespace

template <typename T>
bool holds_exactly(const NpyHeader& header) {
  return conversion<T>(header) != nullptr;
}

template <typename T>
std::expected<vm::Buffer::Owner, std::string> read_npy_numbers(ByteSource& source, const NpyHeader& header) {
  const double bytes = static_cast<double>(header.count) * sizeof(ElementOf<T>);
  if (!vm::has_room_for(bytes))
    return std::unexpected(
        "does not fit: " +
        vm::no_room_text(fmt::format("an array of the shape [{}]", fmt::join(header.extents, ", ")), bytes));
  const bool is_in_order = !header.is_column_major || header.extents.size() < 2;
  vm::Buffer::Owner numbers =
      is_in_order ? vm::Buffer::make_open(kind_of<T>, header.count) : vm::Buffer::make(kind_of<T>, header.count);
  RowMajorPlaces places(header.extents);
  const std::size_t most = piece_bytes / header.size;
  std::vector<std::byte> stored(std::min(most, header.count) * header.size);
  std::vector<ElementOf<T>> converted(is_in_order ? 0 : std::min(most, header.count));
  for (std::size_t first = 0; first < header.count; first += most) {
    const std::size_t count = std::min(most, header.count - first);
    const auto read = source.read(std::span(stored).first(count * header.size));
    if (!read) return std::unexpected(read.error());
    if (*read < count * header.size) return std::unexpected(header.cut_short_text(first * header.size + *read));
    if (is_in_order) {
      numbers->begin_write(first, count);
      conversion<T>(header)(stored.data(), static_cast<ElementOf<T>*>(numbers->at_index(first)), count);
      numbers->wrote(first, count);
    } else {
      conversion<T>(header)(stored.data(), converted.data(), count);
      for (std::size_t i = 0; i < count; ++i)
        *static_cast<ElementOf<T>*>(numbers->at_index(places.next())) = converted[i];
    }
  }
  return numbers;
}

template <typename T>
vm::Buffer::Owner map_npy_numbers(const FileSource& file, const std::string& path, const NpyHeader& header) {
  const char kind = std::is_floating_point_v<T> ? 'f'
                    : std::is_same_v<T, bool>   ? ' '
                                                : 'i';  // bytes may be more than 1
  const bool is_as_in_memory = header.kind == kind && header.size == sizeof(T) &&
                               (!header.is_column_major || header.extents.size() < 2) &&
                               header.data_begin % vm::Buffer::alignment == 0;
  if (!is_as_in_memory || header.count * sizeof(T) < least_mapped_bytes || vm::BoundedMemory::get()) return nullptr;
  vm::tell_of_crashes();
  std::unique_ptr<vm::MappedFile> mapped = vm::MappedFile::make(file.descriptor(), path);
  return mapped ? vm::Buffer::of_file(kind_of<T>, header.count, std::move(mapped), header.data_begin) : nullptr;
}

#define RADDLE_NUMBERS(T)                                                                                    \
  template bool holds_exactly<T>(const NpyHeader&);                                                          \
  template std::expected<vm::Buffer::Owner, std::string> read_npy_numbers<T>(ByteSource&, const NpyHeader&); \
  template vm::Buffer::Owner map_npy_numbers<T>(const FileSource&, const std::string&, const NpyHeader&);
RADDLE_NUMBERS(double)
RADDLE_NUMBERS(std::int64_t)
RADDLE_NUMBERS(float)
RADDLE_NUMBERS(std::int32_t)
RADDLE_NUMBERS(bool)
#undef RADDLE_NUMBERS

}  // namespace raddle::stdlib::native
