#include "compiler/codegen/loaded_leaf.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "compiler/codegen/library_functions.hpp"

namespace raddle::codegen {
namespace {

/// Functions of libraries that a script names; else what the C library has (memset and the like).
const void* find_function(const std::string& name) {
  if (is_library_symbol(name)) return find_library_function(name);
  return dlsym(RTLD_DEFAULT, name.c_str());
}

void set_pointer(char* at, const void* target) { std::memcpy(at, &target, sizeof target); }

}  // namespace

std::expected<LoadedLeaf, std::string> LoadedLeaf::load(const LeafImage& image) {
  const std::size_t size = image.content.size();
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return std::unexpected("no memory for code");
  char* const memory = static_cast<char*>(mapped);
  LoadedLeaf loaded(memory, size, image.entry);
  std::memcpy(memory, image.content.data(), size);
  for (const LeafImage::Pointer& pointer : image.pointers) set_pointer(memory + pointer.at, memory + pointer.target);
  for (const LeafImage::Import& import : image.imports) {
    const void* const function = find_function(import.name);
    if (function == nullptr) return std::unexpected("no function " + import.name);
    set_pointer(memory + import.at, function);
  }
  const std::size_t data_size = size - image.data_begin;
  const bool is_protected = mprotect(memory, image.data_begin, PROT_READ | PROT_EXEC) == 0 &&
                            (data_size == 0 || mprotect(memory + image.data_begin, data_size, PROT_READ) == 0);
  if (!is_protected) return std::unexpected("memory can not be made executable");
  return loaded;
}

LoadedLeaf::~LoadedLeaf() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

raddle_leaf_function LoadedLeaf::code() const { return reinterpret_cast<raddle_leaf_function>(memory_ + entry_); }

}  // namespace raddle::codegen
