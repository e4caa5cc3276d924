#include "stdlib/numbers/zip_members.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

namespace raddle::stdlib::native {
namespace {

using Fault = std::unexpected<std::string>;

constexpr std::string_view end_mark = "PK\x05\x06", end_64_mark = "PK\x06\x06", locator_64_mark = "PK\x06\x07";
constexpr std::string_view entry_mark = "PK\x01\x02", member_mark = "PK\x03\x04";
constexpr std::size_t end_bytes = 22, locator_64_bytes = 20, end_64_bytes = 56, entry_bytes = 46, member_bytes = 30;
constexpr std::size_t longest_comment = 0xffff, longest_directory = std::size_t{64} << 20;
constexpr std::uint16_t stored = 0, deflated = 8, extra_64 = 1, version_64 = 45;
constexpr std::uint32_t in_extra = 0xffffffff;  ///< of a number that does not fit into 32 bits
constexpr const char* damaged = "is no .npz file, or a damaged one";

/// Little-endian.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::expected<std::string, std::string> bytes_at(FileSource& file, std::uint64_t place, std::size_t count) {
  std::string bytes(count, '\0');
  if (const auto gone = file.go_to(place); !gone) return Fault(gone.error());
  const auto read = file.read(std::as_writable_bytes(std::span(bytes)));
  if (!read) return Fault(read.error());
  if (*read < count) return Fault("is cut short");
  return bytes;
}

struct Directory {
  std::uint64_t count, bytes, place;
};

std::expected<Directory, std::string> find_directory(FileSource& file) {
  const std::optional<std::size_t> size = file.size();
  if (!size || *size < end_bytes) return Fault(damaged);
  const std::size_t tail = std::min(*size, end_bytes + longest_comment + locator_64_bytes);
  const auto end = bytes_at(file, *size - tail, tail);
  if (!end) return Fault(end.error());
  const std::size_t at = end->rfind(end_mark);
  if (at == std::string::npos || end->size() - at < end_bytes) return Fault(damaged);
  Directory found{number_at(*end, at + 10, 2), number_at(*end, at + 12, 4), number_at(*end, at + 16, 4)};
  if (at < locator_64_bytes || !std::string_view(*end).substr(at - locator_64_bytes).starts_with(locator_64_mark))
    return found;
  const auto end_64 = bytes_at(file, number_at(*end, at - locator_64_bytes + 8, 8), end_64_bytes);
  if (!end_64) return Fault(end_64.error());
  if (!end_64->starts_with(end_64_mark)) return Fault(damaged);
  return Directory{number_at(*end_64, 32, 8), number_at(*end_64, 40, 8), number_at(*end_64, 48, 8)};
}

/// Numbers of 64 bits, in the place of those that do not fit where they should stand.
void take_extra(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2);
    const std::size_t size = std::min<std::size_t>(number_at(extra, 2, 2), extra.size() - 4);
    std::string_view numbers = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (kind != extra_64) continue;
    for (std::uint64_t* const number : {&member.bytes, &member.stored_bytes, &member.header}) {
      if (*number != in_extra || numbers.size() < 8) continue;
      *number = number_at(numbers, 0, 8);
      numbers.remove_prefix(8);
    }
  }
}

class MemberSource final : public ByteSource {
 public:
  MemberSource(FileSource& file, const ZipMember& member)
      : file_(file),
        name_(member.name),
        checksum_(member.checksum),
        stored_left_(member.stored_bytes),
        left_(member.bytes),
        is_deflated_(member.method == deflated) {}
  ~MemberSource() override {
    if (is_ready_) inflateEnd(&stream_);
  }
  MemberSource(const MemberSource&) = delete;
  MemberSource& operator=(const MemberSource&) = delete;

  std::expected<std::size_t, std::string> read(std::span<std::byte> bytes) override {
    bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_)));
    const auto count = is_deflated_ ? inflate_into(bytes) : read_stored(bytes);
    if (!count) return count;
    if (*count < bytes.size()) return damage();
    left_ -= bytes.size();
    found_checksum_ = crc32_z(found_checksum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    if (left_ == 0 && found_checksum_ != checksum_) return damage();
    return count;
  }

 private:
  Fault damage() const { return Fault(fmt::format("is damaged: `{}` is not what was written", name_)); }
  std::expected<std::size_t, std::string> read_stored(std::span<std::byte> bytes) {
    const auto count =
        file_.read(bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), stored_left_))));
    if (count) stored_left_ -= *count;
    return count;
  }
  std::expected<std::size_t, std::string> inflate_into(std::span<std::byte> bytes) {
    constexpr int raw = -15;  // without a header of zlib's own
    if (!is_ready_ && inflateInit2(&stream_, raw) != Z_OK) return Fault("can not be read: there is no memory");
    is_ready_ = true;
    std::size_t count = 0;
    while (count < bytes.size()) {
      if (stream_.avail_in == 0) {
        const auto read = read_stored(input_);
        if (!read) return read;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(*read);
      }
      const std::size_t most = std::min(bytes.size() - count, std::size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data() + count);
      stream_.avail_out = static_cast<uInt>(most);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = most - stream_.avail_out;
      count += made;
      if (state != Z_OK || (made == 0 && stream_.avail_in == 0 && stored_left_ == 0)) break;
    }
    return count;
  }

  FileSource& file_;
  const std::string name_;
  const std::uint32_t checksum_;
  std::uint64_t stored_left_, left_;
  const bool is_deflated_;
  bool is_ready_ = false;
  z_stream stream_ = {};
  std::vector<std::byte> input_ = std::vector<std::byte>(std::size_t{64} << 10);
  uLong found_checksum_ = 0;
};

}  // namespace

std::expected<std::vector<ZipMember>, std::string> zip_members(FileSource& file) {
  const auto directory = find_directory(file);
  if (!directory) return Fault(directory.error());
  if (directory->bytes > longest_directory) return Fault(damaged);
  const auto read = bytes_at(file, directory->place, static_cast<std::size_t>(directory->bytes));
  if (!read) return Fault(read.error());
  std::string_view entries = *read;
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    if (!entries.starts_with(entry_mark) || entries.size() < entry_bytes) return Fault(damaged);
    const std::size_t name = number_at(entries, 28, 2), extra = number_at(entries, 30, 2),
                      comment = number_at(entries, 32, 2);
    if (entries.size() < entry_bytes + name + extra + comment) return Fault(damaged);
    ZipMember member{std::string(entries.substr(entry_bytes, name)),
                     static_cast<std::uint16_t>(number_at(entries, 10, 2)),
                     static_cast<std::uint32_t>(number_at(entries, 16, 4)),
                     number_at(entries, 20, 4),
                     number_at(entries, 24, 4),
                     number_at(entries, 42, 4)};
    take_extra(entries.substr(entry_bytes + name, extra), member);
    members.push_back(std::move(member));
    entries.remove_prefix(entry_bytes + name + extra + comment);
  }
  return members;
}

std::expected<std::unique_ptr<ByteSource>, std::string> open_zip_member(FileSource& file, const ZipMember& member) {
  if (member.method != stored && member.method != deflated)
    return Fault(fmt::format("has `{}` compressed by the method {}, which is not read", member.name, member.method));
  const auto header = bytes_at(file, member.header, member_bytes);
  if (!header) return Fault(header.error());
  if (!header->starts_with(member_mark)) return Fault(damaged);
  if ((number_at(*header, 6, 2) & 1) != 0)
    return Fault(fmt::format("has `{}` encrypted, which is not read", member.name));
  const std::uint64_t begin = member.header + member_bytes + number_at(*header, 26, 2) + number_at(*header, 28, 2);
  if (const auto gone = file.go_to(begin); !gone) return Fault(gone.error());
  return std::make_unique<MemberSource>(file, member);
}

namespace {

void add_number(std::string& bytes, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i, number >>= 8) bytes += static_cast<char>(number & 0xff);
}

/// What the header of a member and its entry in the directory have in common, from the version on. Sizes stand as those
/// of 64 bits, however small they are.
void add_description(std::string& bytes, const ZipContent& content, std::uint32_t checksum, std::size_t extra) {
  constexpr std::uint64_t day_0 = 0x21;  // 1980-01-01: the same arrays make the same file
  add_number(bytes, version_64, 2);
  add_number(bytes, 0, 2);
  add_number(bytes, stored, 2);
  add_number(bytes, 0, 2);
  add_number(bytes, day_0, 2);
  add_number(bytes, checksum, 4);
  add_number(bytes, in_extra, 4);
  add_number(bytes, in_extra, 4);
  add_number(bytes, content.name.size(), 2);
  add_number(bytes, 4 + extra, 2);
}

void add_extra(std::string& bytes, std::initializer_list<std::uint64_t> numbers) {
  add_number(bytes, extra_64, 2);
  add_number(bytes, 8 * numbers.size(), 2);
  for (const std::uint64_t number : numbers) add_number(bytes, number, 8);
}

std::string directory_end(std::size_t count, std::uint64_t bytes, std::uint64_t place) {
  std::string end(end_64_mark);
  add_number(end, end_64_bytes - 12, 8);
  add_number(end, version_64, 2);
  add_number(end, version_64, 2);
  add_number(end, 0, 8);
  add_number(end, count, 8);
  add_number(end, count, 8);
  add_number(end, bytes, 8);
  add_number(end, place, 8);
  end += locator_64_mark;
  add_number(end, 0, 4);
  add_number(end, place + bytes, 8);
  add_number(end, 1, 4);
  end += end_mark;
  add_number(end, 0, 4);
  add_number(end, 0xffff, 2);
  add_number(end, 0xffff, 2);
  add_number(end, in_extra, 4);
  add_number(end, in_extra, 4);
  add_number(end, 0, 2);
  return end;
}

}  // namespace

int write_zip(int fd, const std::vector<ZipContent>& contents) {
  std::string directory;
  std::uint64_t place = 0;
  for (const ZipContent& content : contents) {
    uLong checksum = 0;
    content.give([&](std::string_view bytes) {
      checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
      return true;
    });
    std::string header(member_mark);
    add_description(header, content, static_cast<std::uint32_t>(checksum), 16);
    header += content.name;
    add_extra(header, {content.bytes, content.bytes});
    int error = vm::write_all(fd, header);
    if (error == 0) content.give([&](std::string_view bytes) { return (error = vm::write_all(fd, bytes)) == 0; });
    if (error != 0) return error;

    directory += entry_mark;
    add_number(directory, version_64, 2);
    add_description(directory, content, static_cast<std::uint32_t>(checksum), 24);
    add_number(directory, 0, 10);  // no comment, nothing of the file system
    add_number(directory, in_extra, 4);
    directory += content.name;
    add_extra(directory, {content.bytes, content.bytes, place});
    place += header.size() + content.bytes;
  }
  return vm::write_all(fd, directory + directory_end(contents.size(), directory.size(), place));
}

}  // namespace raddle::stdlib::native
