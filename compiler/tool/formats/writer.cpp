#include "compiler/tool/formats/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "vm/value/file_beside.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/whole_file.hpp"

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

Writer::Writer(int fd, bool compresses) : fd_(fd), is_terminal_(isatty(fd) != 0) {
  if (!compresses) return;
  gzip_ = std::make_unique<Gzip>();
  if (!gzip_->is_ready) error_ = ENOMEM;
}

Writer::~Writer() = default;

void Writer::write_all(std::string_view left) {
  if (error_ == 0) error_ = is_terminal_ ? vm::write_text(fd_, left) : vm::write_all(fd_, left);
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

/// Of what is no regular file. A named pipe that nobody reads is not waited for.
int open_other(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

/// @return an errno
int write_other(const std::string& path, const Writing& writing, bool compresses) {
  vm::FileDescriptor file(open_other(path));
  if (!file) return errno;
  const int error = write_all(file.get(), writing, compresses);
  const int close_error = file.close();
  return error != 0 ? error : close_error;
}

/// @return an errno
int replace(const std::string& target, const Writing& writing, bool compresses) {
  std::expected<vm::FileBeside, int> beside = vm::FileBeside::make(target, 0666);
  if (!beside) return beside.error();
  if (const int error = write_all(beside->descriptor(), writing, compresses); error != 0) return error;
  return fsync(beside->descriptor()) == 0 ? beside->place(target) : errno;
}

}  // namespace

std::string fault_of_output(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fmt::format("can not write `{}`: it is a folder", path);
  const std::expected<std::filesystem::path, int> target = vm::target_of_links(path);
  if (const int fault = target ? vm::fault_of_replacing(path) : target.error(); fault != 0)
    return fmt::format("can not write `{}`: {}", path, vm::error_text(fault));
  if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code)) return {};
  const std::string parent = target->parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (access(folder.c_str(), W_OK) == 0) return {};
  return fmt::format("can not write into `{}`: {}", folder, vm::error_text(errno));
}

std::expected<void, std::string> write_file(const std::string& path, const Writing& writing) {
  const bool compresses = path.ends_with(".gz");
  std::error_code code;
  const bool is_there = std::filesystem::exists(path, code);
  const bool is_other = is_there && !std::filesystem::is_regular_file(path, code);
  const std::expected<std::filesystem::path, int> target = vm::target_of_links(path);
  int error = target ? vm::fault_of_replacing(path) : target.error();
  if (error == 0)
    error = is_other ? write_other(path, writing, compresses) : replace(target->string(), writing, compresses);
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write `{}`: {}", path, vm::error_text(error)));
}

std::expected<void, std::string> write_to_stdout(const Writing& writing) {
  const int error = write_all(STDOUT_FILENO, writing);
  if (error == 0) return {};
  return std::unexpected(fmt::format("can not write to standard output: {}", vm::error_text(error)));
}

}  // namespace raddle::sweep
