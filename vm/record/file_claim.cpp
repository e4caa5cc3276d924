#include "vm/record/file_claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "vm/record/record_folder.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/hash.hpp"

namespace raddle::vm {

namespace {

std::string path_of_claims() { return fmt::format("{}/writes", record_folder); }

}  // namespace

bool has_file_claims() { return access(path_of_claims().c_str(), F_OK) == 0; }

FileClaim claim_file(const std::string& place) {
  constexpr std::uint64_t positions = std::uint64_t{1} << 62;
  const std::string path = path_of_claims();
  try {
    make_record_folder();
  } catch (const RecordError&) {  // nothing is kept there then
  }
  auto file = std::make_shared<FileDescriptor>(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  struct flock wanted {};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = static_cast<off_t>(hash(place).low % positions);
  wanted.l_len = 1;
  if (*file && fcntl(file->get(), F_OFD_SETLK, &wanted) == 0) return file;
  if (*file && (errno == EAGAIN || errno == EACCES)) return nullptr;
  return std::make_shared<int>();
}

}  // namespace raddle::vm
