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

std::string fault_of_output(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fmt::format("can not write `{}`: it is a folder", path);
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (access(folder.c_str(), W_OK) == 0) return {};
  return fmt::format("can not write into `{}`: {}", folder, vm::error_text(errno));
}

std::expected<void, std::string> write_file(const std::string& path, const Writing& writing) {
  const auto failed = [&](int error) {
    return std::unexpected(fmt::format("can not write `{}`: {}", path, vm::error_text(error)));
  };
  const std::string temporary = vm::name_beside(path);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return failed(errno);
  int error = write_all(fd, writing, path.ends_with(".gz"));
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return failed(error);
}

std::expected<void, std::string> write_to_stdout(const Writing& writing) {
  const int error = write_all(STDOUT_FILENO, writing);
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write to standard output: {}", vm::error_text(error)));
}

}  // namespace raddle::sweep
