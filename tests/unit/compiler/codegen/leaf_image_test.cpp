#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/codegen/leaf_image.hpp"
#include "compiler/codegen/loaded_leaf.hpp"

namespace raddle::codegen {
namespace {

/// `mov eax, 7; ret` and a page of constants with two pointers.
LeafImage small_image() {
  LeafImage image;
  image.content = std::string("\xb8\x07\x00\x00\x00\xc3", 6);
  image.content.resize(LeafImage::page_bytes + 16, '\0');
  image.data_begin = LeafImage::page_bytes;
  image.pointers = {{LeafImage::page_bytes, 3}};
  image.imports = {{LeafImage::page_bytes + 8, "memset"}};
  return image;
}

}  // namespace

TEST_CASE("an image comes back from its bytes, and its code runs") {
  const auto image = image_from_bytes(to_bytes(small_image()));
  REQUIRE(image.has_value());
  CHECK(image->content == small_image().content);
  CHECK(image->pointers.at(0).target == 3);
  CHECK(image->imports.at(0).name == "memset");
  const auto loaded = LoadedLeaf::load(*image);
  REQUIRE(loaded.has_value());
  CHECK(loaded->code()(nullptr, nullptr, nullptr, nullptr) == 7);
}

TEST_CASE("bytes that end early or go on are no image") {
  const std::string bytes = to_bytes(small_image());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(image_from_bytes(std::string_view(bytes).substr(0, size)).has_value());
  CHECK_FALSE(image_from_bytes(bytes + '\0').has_value());
}

TEST_CASE("an image with an offset beyond its end is none") {
  const auto is_refused = [](const auto& change) {
    LeafImage image = small_image();
    change(image);
    return !image_from_bytes(to_bytes(image)).has_value();
  };
  CHECK_FALSE(is_refused([](LeafImage&) {}));
  CHECK(is_refused([](LeafImage& image) { image.entry = image.data_begin; }));
  CHECK(is_refused([](LeafImage& image) { image.data_begin -= 1; }));
  CHECK(is_refused([](LeafImage& image) { image.data_begin *= 2; }));
  CHECK(is_refused([](LeafImage& image) { image.pointers[0].at = image.content.size() - 7; }));
  CHECK(is_refused([](LeafImage& image) { image.pointers[0].at = ~std::uint64_t{0}; }));
  CHECK(is_refused([](LeafImage& image) { image.pointers[0].target = image.content.size() + 1; }));
  CHECK(is_refused([](LeafImage& image) { image.imports[0].at = image.content.size(); }));
}

TEST_CASE("an image that needs a function nobody has is not loaded") {
  LeafImage image = small_image();
  image.imports[0].name = "raddle_no_such_function";
  const auto loaded = LoadedLeaf::load(image);
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error() == "no function raddle_no_such_function");
}

}  // namespace raddle::codegen
