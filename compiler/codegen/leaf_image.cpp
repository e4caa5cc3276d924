#include "compiler/codegen/leaf_image.hpp"

#include <algorithm>
#include <cstring>

namespace raddle::codegen {
namespace {

constexpr std::uint64_t pointer_bytes = 8;

void append(std::string& bytes, std::uint64_t number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

void append(std::string& bytes, std::string_view text) {
  append(bytes, text.size());
  bytes.append(text);
}

/// Reads what append() has written. Past the end it reads zeros and is no longer good.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view raw = take(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number())); }
  /// The length of a list whose elements take `least_bytes` or more.
  std::uint64_t count(std::uint64_t least_bytes) {
    const std::uint64_t count = number();
    is_good_ = is_good_ && count <= rest_.size() / least_bytes;
    return is_good_ ? count : 0;
  }
  bool is_at_good_end() const { return is_good_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size_bytes) {
    is_good_ = is_good_ && size_bytes <= rest_.size();
    if (!is_good_) return {};
    const std::string_view taken = rest_.substr(0, size_bytes);
    rest_.remove_prefix(size_bytes);
    return taken;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

bool is_sound(const LeafImage& image) {
  const std::uint64_t size = image.content.size();
  const auto is_pointer = [&](std::uint64_t at) { return size >= pointer_bytes && at <= size - pointer_bytes; };
  return image.data_begin <= size && image.data_begin % LeafImage::page_bytes == 0 && image.entry < image.data_begin &&
         std::ranges::all_of(image.pointers,
                             [&](LeafImage::Pointer each) { return is_pointer(each.at) && each.target <= size; }) &&
         std::ranges::all_of(image.imports, [&](const LeafImage::Import& each) { return is_pointer(each.at); });
}

}  // namespace

std::string to_bytes(const LeafImage& image) {
  std::string bytes;
  append(bytes, image.content);
  append(bytes, image.data_begin);
  append(bytes, image.entry);
  append(bytes, image.pointers.size());
  for (const LeafImage::Pointer& pointer : image.pointers) {
    append(bytes, pointer.at);
    append(bytes, pointer.target);
  }
  append(bytes, image.imports.size());
  for (const LeafImage::Import& import : image.imports) {
    append(bytes, import.at);
    append(bytes, import.name);
  }
  return bytes;
}

std::optional<LeafImage> image_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  LeafImage image;
  image.content = reader.text();
  image.data_begin = reader.number();
  image.entry = reader.number();
  image.pointers.resize(reader.count(2 * sizeof(std::uint64_t)));
  for (LeafImage::Pointer& pointer : image.pointers) {
    pointer.at = reader.number();
    pointer.target = reader.number();
  }
  image.imports.resize(reader.count(2 * sizeof(std::uint64_t)));
  for (LeafImage::Import& import : image.imports) {
    import.at = reader.number();
    import.name = reader.text();
  }
  if (!reader.is_at_good_end() || !is_sound(image)) return std::nullopt;
  return image;
}

}  // namespace raddle::codegen
