#include "vm/external/redirects.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace raddle::vm {
namespace {

std::expected<FileDescriptor, std::string> open_one(const std::string& path, int flags) {
  if (path.empty()) return FileDescriptor();
  constexpr int attempts = 2;
  for (int attempt = 1;; ++attempt) {
    const int fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (fd >= 0) return FileDescriptor(fd);
    const int error = errno;
    if (error != ENOENT || !(flags & O_CREAT) || attempt == attempts) {
      return std::unexpected("can not open `" + path + "`: " + error_text(error));
    }
    std::error_code ignored;  // opening again tells
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
}

}  // namespace

std::expected<Redirects, std::string> Redirects::open(const ProcessRequest& request) {
  constexpr int output = O_WRONLY | O_CREAT | O_TRUNC;
  Redirects redirects;
  redirects.shared_ = !request.stdout_path.empty() && request.stdout_path == request.stderr_path;
  auto in = open_one(request.stdin_path, O_RDONLY);
  if (!in) return std::unexpected(std::move(in.error()));
  redirects.in_ = std::move(*in);
  auto out = open_one(request.stdout_path, output);
  if (!out) return std::unexpected(std::move(out.error()));
  redirects.out_ = std::move(*out);
  if (redirects.shared_) return redirects;
  auto error = open_one(request.stderr_path, output);
  if (!error) return std::unexpected(std::move(error.error()));
  redirects.error_ = std::move(*error);
  return redirects;
}

}  // namespace raddle::vm
