// Dense arrays in NumPy's files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/npy_numbers.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "stdlib/numbers/zip_members.hpp"
#include "vm/value/dense.hpp"
#include "vm/value/file.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

Value array_value(vm::Buffer::Owner numbers) {
  return Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(numbers)));
}

/// How an array is read that is not of the wanted type. "": in no way
template <typename T>
std::string way_to_read(const NpyHeader& header, std::string_view function) {
  const auto rank = static_cast<std::int64_t>(header.extents.size());
  const bool is_int = header.kind == 'i' || (header.kind == 'u' && header.size < 8);
  if (rank == 0 || (!is_int && header.kind != 'f' && header.kind != 'b')) return "";
  const std::string type = is_int               ? array_type_text<std::int64_t>(rank)
                           : header.kind == 'f' ? array_type_text<double>(rank)
                                                : array_type_text<bool>(rank);
  const std::string text =
      fmt::format(": read it as `{} = {}(..);`", std::string(type).insert(type.find('['), " a"), function);
  if (std::is_same_v<T, float> && header.kind == 'f') return text + ", and `float32(a)` rounds it";
  if (std::is_same_v<T, std::int32_t> && is_int) return text + ", and `int32(a)` makes it narrower";
  if (std::is_same_v<T, double> && is_int) return text + ", which may be assigned to floats";
  return std::is_same_v<T, std::int64_t> && header.kind == 'f' ? text + ", and `float2int(a)` makes ints of it" : text;
}

template <typename T>
Result check_type(const NpyHeader& header, std::int64_t rank, const std::string& what, std::string_view function) {
  if (header.extents.size() == static_cast<std::size_t>(rank) && holds_exactly<T>(header)) return {};
  return fail(fmt::format("{} holds {}, and {}`{}` is wanted{}", what, header.text(),
                          std::is_integral_v<T> && !std::is_same_v<T, bool> ? "an " : "a ", array_type_text<T>(rank),
                          way_to_read<T>(header, function)));
}

template <typename T>
Result read_npy(Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::string what = fmt::format("`{}`", path);
  const auto fault = [&](const std::string& text) { return fail(what + " " + text); };
  auto file = FileSource::open(path);
  if (!file) return fault(file.error());
  const auto header = read_npy_header(*file);
  if (!header) return fault(header.error());
  const std::optional<std::size_t> size = file->size();
  if (size && header->count > (*size - header->data_begin) / header->size)
    return fault(header->cut_short_text(*size - header->data_begin));
  if (auto fits = check_type<T>(*header, arguments[1].as_int(), what, "read_npy"); !fits) return fits;
  vm::Buffer::Owner numbers = map_npy_numbers<T>(*file, path, *header);
  if (!numbers) {
    auto read = read_npy_numbers<T>(*file, *header);
    if (!read) return fault(read.error());
    numbers = std::move(*read);
  }
  results[0] = array_value(std::move(numbers));
  results[1] = Value::of_object(vm::ValueKind::array, vm::Array::packed_of(header->extents));
  return {};
}

/// Without ".npy", which NumPy adds to the name of an array.
std::string_view name_in_zip(const ZipMember& member) {
  std::string_view name = member.name;
  if (name.ends_with(".npy")) name.remove_suffix(4);
  return name;
}

template <typename T>
Result read_npz(Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  const std::string& name = arguments[2].as_string();
  const std::string what = fmt::format("`{}` of `{}`", name, path);
  const auto fault = [](const std::string& of, const std::string& text) { return fail(of + " " + text); };
  auto file = FileSource::open(path);
  if (!file) return fault(fmt::format("`{}`", path), file.error());
  const auto members = zip_members(*file);
  if (!members) return fault(fmt::format("`{}`", path), members.error());
  const auto member = std::ranges::find(*members, name, name_in_zip);
  if (member == members->end()) {
    std::vector<std::string_view> names;
    for (const ZipMember& each : *members) names.push_back(name_in_zip(each));
    return fail(fmt::format("`{}` has no array `{}`: {}", path, name,
                            names.empty() ? "it has none" : fmt::format("it has `{}`", fmt::join(names, "`, `"))));
  }
  const auto source = open_zip_member(*file, *member);
  if (!source) return fault(fmt::format("`{}`", path), source.error());
  const auto header = read_npy_header(**source);
  if (!header) return fault(what, header.error());
  if (header->count > (member->bytes - header->data_begin) / header->size)
    return fault(what, header->cut_short_text(member->bytes - header->data_begin));
  if (auto fits = check_type<T>(*header, arguments[1].as_int(), what, "read_npz"); !fits) return fits;
  auto numbers = read_npy_numbers<T>(**source, *header);
  if (!numbers) return fault(what, numbers.error());
  results[0] = array_value(std::move(*numbers));
  results[1] = Value::of_object(vm::ValueKind::array, vm::Array::packed_of(header->extents));
  return {};
}

/// Through a piece of our own: under --memory the system can not read numbers that have gone to the disk.
void give_numbers(const vm::Array& array, std::size_t size, const std::function<bool(std::string_view)>& take) {
  constexpr std::size_t piece_bytes = std::size_t{256} << 10;
  std::string piece;
  bool goes_on = true;
  const auto flush = [&] {
    goes_on = goes_on && take(piece);
    piece.clear();
  };
  array.for_each_run([&](const void* numbers, std::size_t count) {
    std::string_view left(static_cast<const char*>(numbers), count * size);
    while (goes_on && !left.empty()) {
      const std::string_view here = left.substr(0, piece_bytes - piece.size());
      piece += here;
      left.remove_prefix(here.size());
      if (piece.size() == piece_bytes) flush();
    }
  });
  flush();
}

/// @param type  kind and size of NpyHeader, as "f4"
ZipContent npy_content(std::string name, std::string_view type, const vm::Array& array,
                       std::span<const std::int64_t> extents) {
  const auto size = static_cast<std::size_t>(type[1] - '0');
  std::string header = npy_header(type[0], size, extents);
  std::uint64_t bytes = size;
  for (const std::int64_t extent : extents) bytes *= static_cast<std::uint64_t>(extent);
  return {std::move(name), header.size() + bytes, [header, size, &array](const auto& take) {
            if (take(header)) give_numbers(array, size, take);
          }};
}

Result write_npy(Arguments arguments, std::string_view type) {
  const ZipContent content = npy_content("", type, arguments[1].as_array(), extents_of(arguments[2]));
  return write_file(arguments[0].as_file(), [&](int fd) {
    int error = 0;
    content.give([&](std::string_view bytes) { return (error = vm::write_all(fd, bytes)) == 0; });
    return error;
  });
}

}  // namespace

Result read_npy_float(Call, Arguments arguments, Results results) { return read_npy<double>(arguments, results); }
Result read_npy_int(Call, Arguments arguments, Results results) { return read_npy<std::int64_t>(arguments, results); }
Result read_npy_boolean(Call, Arguments arguments, Results results) { return read_npy<bool>(arguments, results); }
Result read_npy_float32(Call, Arguments arguments, Results results) { return read_npy<float>(arguments, results); }
Result read_npy_int32(Call, Arguments arguments, Results results) { return read_npy<std::int32_t>(arguments, results); }

Result read_npz_float(Call, Arguments arguments, Results results) { return read_npz<double>(arguments, results); }
Result read_npz_int(Call, Arguments arguments, Results results) { return read_npz<std::int64_t>(arguments, results); }
Result read_npz_boolean(Call, Arguments arguments, Results results) { return read_npz<bool>(arguments, results); }
Result read_npz_float32(Call, Arguments arguments, Results results) { return read_npz<float>(arguments, results); }
Result read_npz_int32(Call, Arguments arguments, Results results) { return read_npz<std::int32_t>(arguments, results); }

Result write_npy_float(Call, Arguments arguments, Results) { return write_npy(arguments, "f8"); }
Result write_npy_int(Call, Arguments arguments, Results) { return write_npy(arguments, "i8"); }
Result write_npy_boolean(Call, Arguments arguments, Results) { return write_npy(arguments, "b1"); }
Result write_npy_float32(Call, Arguments arguments, Results) { return write_npy(arguments, "f4"); }
Result write_npy_int32(Call, Arguments arguments, Results) { return write_npy(arguments, "i4"); }

/// The types are said, one after the other, as elements that are not there do not tell them.
Result write_npz(Call, Arguments arguments, Results) {
  vm::Structure& arrays = arguments[1].as_structure();
  std::vector<ZipContent> contents;
  for (std::size_t i = 0; i < arrays.field_count(); ++i) {
    vm::Structure& array = arrays.field(i).get().as_structure();
    contents.push_back(npy_content(std::string(arrays.field_name(i)) + ".npy",
                                   std::string_view(arguments[2].as_string()).substr(2 * i, 2),
                                   array.field(0).get().as_array(), vm::dense_extents(array)));
  }
  return write_file(arguments[0].as_file(), [&](int fd) { return write_zip(fd, contents); });
}

}  // namespace raddle::stdlib::native
