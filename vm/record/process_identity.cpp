#include "vm/record/process_identity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace raddle::vm {
namespace {

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

/// @return 0 if there is no such process, or it has ended and only its parent has not been told
std::int64_t start_ticks_of(std::int64_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(in, line);
  const std::size_t name_end = line.rfind(')');  // the name may hold blanks and brackets
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int state_field = 3, start_field = 22;  // as proc(5) counts them
  std::string field;
  for (int number = state_field; number <= start_field && fields >> field; ++number) {
    if (number == state_field && (field == "Z" || field == "X")) return 0;
  }
  return fields ? std::stoll(field) : 0;
}

}  // namespace

ProcessIdentity own_identity() { return {getpid(), start_ticks_of(getpid()), boot_id()}; }

bool is_alive(const ProcessIdentity& process) {
  return process.boot == boot_id() && process.start_ticks != 0 && start_ticks_of(process.pid) == process.start_ticks;
}

}  // namespace raddle::vm
