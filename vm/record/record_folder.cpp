#include "vm/record/record_folder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace raddle::vm {

std::string folder_of_run(const std::string& id) { return fmt::format("{}/runs/{}", record_folder, id); }

void make_record_folder() {
  std::error_code code;
  std::filesystem::create_directory(record_folder, code);
  if (code) {
    std::error_code ignored;
    throw RecordError(
        fmt::format("can not make the folder `{}`, in which runs are recorded, in `{}`: {}\n"
                    "  = help: run it in a folder that you may write to; paths are taken from there",
                    record_folder, std::filesystem::current_path(ignored).string(), code.message()));
  }
  const std::string ignore = fmt::format("{}/.gitignore", record_folder);
  if (!std::filesystem::exists(ignore, code)) std::ofstream(ignore) << "*\n";
}

// Somebody else may be turning it into the same at this moment, which SQLite does not wait for.
void use_write_ahead_log(Database& database) {
  constexpr int attempts = 200;
  for (int attempt = 1;; ++attempt) {
    try {
      database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
      return;
    } catch (const RecordError&) {
      if (attempt == attempts) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

std::int64_t format_of(Database& database) {
  Statement version(database, "PRAGMA user_version");
  return version.step() ? version.integer(0) : 0;
}

}  // namespace raddle::vm
