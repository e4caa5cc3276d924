#include "compiler/sweep/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::sweep {
namespace {

/// @return an errno
int write_all(int fd, const Writing& writing, bool compresses = false) {
  Writer writer(fd, compresses);
  writing(writer);
  writer.finish();
  return writer.error();
}

}  // namespace

struct Writer::Gzip {
  Gzip() {
    constexpr int gzip_window = 15 + 16, memory_level = 8;
    is_ready =
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Gzip() {
    if (is_ready) deflateEnd(&stream);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  /// @param mode  Z_NO_FLUSH or Z_FINISH
  std::string take(std::string& text, int mode) {
    std::string packed;
    char piece[1 << 16];
    stream.next_in = reinterpret_cast<Bytef*>(text.data());
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece);
      stream.avail_out = sizeof piece;
      deflate(&stream, mode);
      packed.append(piece, sizeof piece - stream.avail_out);
    } while (stream.avail_out == 0);
    return packed;
  }

  z_stream stream{};
  bool is_ready = false;
};

Writer::Writer(int fd, bool compresses) : fd_(fd) {
  if (!compresses) return;
  gzip_ = std::make_unique<Gzip>();
  if (!gzip_->is_ready) error_ = ENOMEM;
}

Writer::~Writer() = default;

void Writer::write_all(std::string_view left) {
  if (error_ == 0) error_ = vm::write_all(fd_, left);
}

bool Writer::flush() {
  if (error_ == 0 && gzip_)
    write_all(gzip_->take(waiting_, Z_NO_FLUSH));
  else
    write_all(waiting_);
  waiting_.clear();
  return error_ == 0;
}

bool Writer::finish() {
  flush();
  if (gzip_ && error_ == 0) write_all(gzip_->take(waiting_, Z_FINISH));
  return error_ == 0;
}

namespace {

/// What the links that `path` may be lead to, whether that is there or not.
std::string target_of(std::string path) {
  constexpr int most_links = 40;
  std::error_code code;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(path, code); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, code);
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return path;
}

/// Of what is no regular file. A named pipe that nobody reads is not waited for.
int open_other(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

/// @return an errno
int write_to(int fd, const Writing& writing, bool compresses, bool is_file) {
  if (fd < 0) return errno;
  if (is_file) vm::lock_while_open(fd);
  int error = write_all(fd, writing, compresses);
  if (is_file && error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

std::string fault_of_output(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fmt::format("can not write `{}`: it is a folder", path);
  if (std::filesystem::exists(path, code) && access(path.c_str(), W_OK) != 0)
    return fmt::format("can not write `{}`: {}", path, vm::error_text(errno));
  if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code)) return {};
  const std::string parent = std::filesystem::path(target_of(path)).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (access(folder.c_str(), W_OK) == 0) return {};
  return fmt::format("can not write into `{}`: {}", folder, vm::error_text(errno));
}

std::expected<void, std::string> write_file(const std::string& path, const Writing& writing) {
  const bool compresses = path.ends_with(".gz");
  std::error_code code;
  const bool is_there = std::filesystem::exists(path, code);
  const bool is_other = is_there && !std::filesystem::is_regular_file(path, code);
  const std::string target = is_other ? path : target_of(path);
  int error = 0;
  if (is_other) {
    error = write_to(open_other(path), writing, compresses, /*is_file=*/false);
  } else if (is_there && access(target.c_str(), W_OK) != 0) {
    error = errno;
  } else {
    vm::remove_left_beside(target);
    const std::string temporary = vm::name_beside(target);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    error = write_to(open(temporary.c_str(), flags, 0666), writing, compresses, /*is_file=*/true);
    if (error == 0 && rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) unlink(temporary.c_str());
  }
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write `{}`: {}", path, vm::error_text(error)));
}

std::expected<void, std::string> write_to_stdout(const Writing& writing) {
  const int error = write_all(STDOUT_FILENO, writing);
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write to standard output: {}", vm::error_text(error)));
}

}  // namespace raddle::sweep
