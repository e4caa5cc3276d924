#include "compiler/codegen/build_id.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>

namespace raddle::codegen {
namespace {

constexpr std::size_t most_note_bytes = 1 << 16;

std::string read_at(std::ifstream& file, std::uint64_t offset, std::size_t size_bytes) {
  std::string bytes(size_bytes, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size_bytes));
  return file ? bytes : "";
}

template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& value) {
  const std::string bytes = read_at(file, offset, sizeof value);
  if (bytes.empty()) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  return true;
}

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

/// Notes: a header, the name, the content, each padded to 4 bytes.
std::string find_build_id(std::string_view notes) {
  Elf64_Nhdr header;
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    notes.remove_prefix(sizeof header);
    const std::size_t name_size = padded(header.n_namesz), size = padded(header.n_descsz);
    if (name_size > notes.size() || size > notes.size() - name_size) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.starts_with(ELF_NOTE_GNU))
      return std::string(notes.substr(name_size, header.n_descsz));
    notes.remove_prefix(name_size + size);
  }
  return "";
}

}  // namespace

std::string build_id(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return "";
    if (segment.p_type != PT_NOTE || segment.p_filesz > most_note_bytes) continue;
    std::string found = find_build_id(read_at(file, segment.p_offset, segment.p_filesz));
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace raddle::codegen
