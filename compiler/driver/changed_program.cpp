#include "compiler/driver/changed_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

namespace raddle::driver {

namespace {

namespace fs = std::filesystem;

/// The file that is the program, or that an interpreter runs: `./model {a}`, `python3 model.py {a}`. Null: none is
/// known
const std::string* program_file(const std::vector<std::string>& words) {
  std::error_code ignored;
  const auto is_file = [&](const std::string& word) { return fs::is_regular_file(word, ignored); };
  if (!words.empty() && words[0].find('/') != std::string::npos && is_file(words[0])) return &words[0];
  return words.size() > 1 && is_file(words[1]) ? &words[1] : nullptr;
}

/// When a file was written, as vm::unix_time().
double written_at(const std::string& path) {
  std::error_code ignored;
  const auto time = fs::file_time_type::clock::to_sys(fs::last_write_time(path, ignored));
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

void warn_of_changed_program(const sweep::CommandTemplate& command, const std::vector<vm::RunRow>& runs,
                             const vm::RunRow& own) {
  const std::string* program = program_file(command.words());
  if (program == nullptr) return;
  const double written = written_at(*program);
  const auto has_points = [&](const vm::RunRow& run) { return run.id != own.id && run.work == own.work && run.ok > 0; };
  const auto is_before = [&](const vm::RunRow& run) { return has_points(run) && run.started < written; };
  const auto is_all_anew = [&](const vm::RunRow& run) {
    return has_points(run) && run.started >= written && run.taken == 0;
  };
  if (std::ranges::any_of(runs, is_before) && std::ranges::none_of(runs, is_all_anew))
    fmt::print(stderr,
               "raddle: warning: `{}` was written after earlier runs, from which points are taken\n"
               "  = help: --no-cache runs all anew\n",
               *program);
}

}  // namespace raddle::driver
