// `raddle doctor`: what of all that a script may need is there.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/codegen/load_plugin.hpp"
#include "compiler/tool/process/child_output.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/machine.hpp"
#include "compiler/tool/settings/settings.hpp"
#include "compiler/tool/command/words.hpp"
#include "compiler/tool/command/verb.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "gpu/open_devices.hpp"
#include "vm/foreign/tcl_api.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/record/run_record.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::tool {

namespace {

enum class Health : std::uint8_t {
  ok,
  absent,   ///< something that few scripts need is not there
  warning,  ///< something will go wrong
};

struct Finding {
  std::string_view what;
  Health health = Health::ok;
  std::string found;
  std::string remedy = "";
};

std::string_view name_of(Health health) {
  switch (health) {
    case Health::ok: return "ok";
    case Health::absent: return "absent";
    case Health::warning: return "warning";
  }
  return "";
}

Finding check_workers() {
  return {"workers", Health::ok,
          fmt::format("{} cores, {} of memory", core_count(), sweep::size_text(vm::memory_limit_bytes()))};
}

Finding check_compiler() {
  if (!codegen::Plugin().identity().empty()) return {"machine code", Health::ok, "libraddle_codegen.so, with LLVM"};
  return {"machine code", Health::warning, "there is no libraddle_codegen.so: leaf functions are interpreted",
          "build or install raddle whole"};
}

Finding check_cache() {
  const std::string folder = codegen::default_cache_folder();
  if (folder.empty())
    return {"machine code's cache", Health::warning, "none: neither XDG_CACHE_HOME nor HOME is an absolute path",
            "set XDG_CACHE_HOME to a folder of yours; else each run compiles anew"};
  if (!codegen::LeafCache(folder).is_usable())
    return {"machine code's cache", Health::warning, fmt::format("`{}` can not be used", folder),
            "it must be a folder of yours that nobody else can write into; or set XDG_CACHE_HOME to another place"};
  std::uint64_t bytes = 0;
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(folder, code)) {
    const auto size = file.file_size(code);
    if (!code) bytes += size;
  }
  return {"machine code's cache", Health::ok, fmt::format("{}, {}", folder, sweep::size_text(bytes))};
}

/// A program that is asked for its version.
Finding check_program(std::string_view what, const std::vector<std::string>& words, const std::string& needed_by,
                      const std::string& remedy) {
  const std::expected<ChildOutput, std::string> answer = run_child(words, "", /*with_errors=*/true);
  if (!answer) return {what, Health::warning, answer.error()};
  if (!answer->is_found) return {what, Health::absent, fmt::format("no `{}`: {}", words.front(), needed_by), remedy};
  const std::string line = answer->out.substr(0, answer->out.find('\n'));
  if (answer->status != 0) return {what, Health::warning, fmt::format("`{}` fails: {}", words.front(), line), remedy};
  return {what, Health::ok, line};
}

Finding check_numpy() {
  constexpr const char* version =
      "import importlib.util as u; print(__import__('numpy').__version__ if u.find_spec('numpy') else '')";
  const std::expected<ChildOutput, std::string> answer = run_child({"python3", "-c", version}, "", false);
  const std::string line = answer && answer->status == 0 ? answer->out.substr(0, answer->out.find('\n')) : "";
  if (line.empty())
    return {"NumPy", Health::absent, "not in `python3`: functions with `@python` get no arrays",
            "apt-get install python3-numpy"};
  return {"NumPy", Health::ok, line};
}

Finding check_tcl() {
  if (vm::tcl_api()) return {"Tcl", Health::ok, "libtcl8.6"};
  return {"Tcl", Health::absent, "no libtcl8.6: functions in Tcl can not be called", "apt-get install libtcl8.6"};
}

Finding check_gpu() {
  gpu::FoundGpus found = gpu::find_gpus();
  const Health health = found.has_problem ? Health::warning : found.has_driver ? Health::ok : Health::absent;
  return {"GPU", health, std::move(found.text)};
}

Finding check_limit(std::string_view what, decltype(RLIMIT_NOFILE) limit, rlim_t least, const char* option) {
  rlimit values{};
  getrlimit(limit, &values);
  const bool is_unlimited = values.rlim_cur == RLIM_INFINITY;
  Finding finding{what, Health::ok, is_unlimited ? "no limit" : sweep::with_commas(values.rlim_cur)};
  if (!is_unlimited && values.rlim_cur < least) {
    finding.health = Health::warning;
    finding.remedy = fmt::format("ulimit {} {}: external programs that run at once need some", option, least);
  }
  return finding;
}

Finding check_stack() {
  constexpr rlim_t least_bytes = 1 << 20;
  rlimit values{};
  getrlimit(RLIMIT_STACK, &values);
  if (values.rlim_cur == RLIM_INFINITY) return {"stack", Health::ok, "no limit"};
  Finding finding{"stack", Health::ok, sweep::size_text(values.rlim_cur)};
  if (values.rlim_cur < least_bytes) {
    finding.health = Health::warning;
    finding.remedy = "ulimit -s 8192: recursive functions need some";
  }
  return finding;
}

Finding check_settings() {
  constexpr std::string_view what = "settings";
  std::vector<std::string> read, absent;
  for (const SettingSource& source : setting_sources()) {
    if (!source.fault.empty())
      return {what, Health::warning, source.fault, "most verbs end with this error until it is mended"};
    (source.is_there ? read : absent).push_back(source.name);
  }
  std::string found = read.empty() ? "none" : fmt::format("{}", fmt::join(read, ", "));
  if (!absent.empty()) found += fmt::format("; not there: {}", fmt::join(absent, ", "));
  return {what, Health::ok, std::move(found)};
}

Finding check_temporaries() {
  const std::string folder = vm::temporary_folder();
  constexpr std::uint64_t little_bytes = 100'000'000;
  struct statvfs system {};
  if (access(folder.c_str(), W_OK | X_OK) != 0 || statvfs(folder.c_str(), &system) != 0)
    return {"temporary files", Health::warning, fmt::format("`{}` can not be written into", folder),
            "set SWIFT_TMP to a folder that can"};
  const std::uint64_t free_bytes = std::uint64_t{system.f_bavail} * system.f_frsize;
  Finding finding{"temporary files", Health::ok, fmt::format("{}, {} free", folder, sweep::size_text(free_bytes))};
  if (free_bytes < little_bytes) {
    finding.health = Health::warning;
    finding.remedy = "files without a name lie there: set SWIFT_TMP to a larger disk";
  }
  return finding;
}

/// SQLite's write-ahead log is for one machine.
bool is_shared_by_machines(const char* folder) {
  constexpr std::array<unsigned long, 6> network_systems = {0x6969,     0xFF534D42, 0xFE534D42,
                                                            0x0BD00BD0, 0x47504653, 0x19830326};
  struct statfs system {};
  if (statfs(folder, &system) != 0) return false;
  for (const unsigned long known : network_systems)
    if (static_cast<unsigned long>(system.f_type) == known) return true;
  return false;
}

Finding check_record() {
  const char* const what = "record of runs";
  if (access(".", W_OK) != 0)
    return {what, Health::warning, "nothing can be written into this folder", "run sweeps in a folder of yours"};
  try {
    std::optional<vm::RunRecord> record = vm::RunRecord::open();
    Finding finding{what, Health::ok, "nothing was recorded in this folder yet"};
    if (record) {
      const std::size_t count = record->runs().size();
      finding.found = fmt::format("{}, {} run{}", vm::record_path, sweep::with_commas(count), count == 1 ? "" : "s");
    }
    if (is_shared_by_machines(".")) {
      finding.health = Health::warning;
      finding.found += "; this folder is on a network's file system";
      finding.remedy = "run sweeps from one machine at a time here, or in a folder of a disk of its own";
    }
    return finding;
  } catch (const vm::RecordError& error) {
    const std::string text = error.what();
    constexpr std::string_view help = "\n  = help: ";
    const std::size_t end = text.find(help);
    return {what, Health::warning, text.substr(0, end),
            end == std::string::npos ? fmt::format("mv {0} {0}.old", vm::record_path) : text.substr(end + help.size())};
  }
}

std::vector<Finding> check_all() {
  return {
      check_workers(),
      check_compiler(),
      check_cache(),
      check_record(),
      check_settings(),
      check_temporaries(),
      check_limit("open files", RLIMIT_NOFILE, 256, "-n"),
      check_limit("processes", RLIMIT_NPROC, 64, "-u"),
      check_stack(),
      check_program("Python", {"python3", "--version"}, "python(), python_persist() and functions with `@python` fail",
                    "apt-get install python3"),
      check_numpy(),
      check_program("R", {"Rscript", "--version"}, "R() and functions with `@r` fail", "apt-get install r-base-core"),
      check_tcl(),
      check_program("MPI", {"mpiexec", "--version"}, "launch() starts its processes without it",
                    "apt-get install openmpi-bin"),
      check_program("clang", {"clang++-19", "--version"}, "a script's own AppKernels are not compiled",
                    "apt-get install clang-19"),
      check_program("graphviz", {"dot", "-V"}, "raddle graph draws no SVG", "apt-get install graphviz"),
      check_gpu()};
}

std::string as_text(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.what.size());
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<7}  {:<{}}  {}\n", name_of(finding.health), finding.what, width, finding.found);
    if (!finding.remedy.empty()) text += fmt::format("{:<7}  {:<{}}  = help: {}\n", "", "", width, finding.remedy);
  }
  return text;
}

std::string as_json(const std::vector<Finding>& findings) {
  std::string items;
  for (const Finding& finding : findings) {
    sweep::JsonObject json;
    json.add("what", sweep::json_string(finding.what));
    json.add("health", sweep::json_string(name_of(finding.health)));
    json.add("found", sweep::json_string(finding.found));
    if (!finding.remedy.empty()) json.add("remedy", sweep::json_string(finding.remedy));
    items += (items.empty() ? "" : ",") + json.text();
  }
  return json_line(fmt::format("\"findings\":[{}]", items));
}

struct DoctorWords {
  bool as_json = false;
};

void add_doctor_options(CLI::App& app, DoctorWords& words) {
  app.description(
      "raddle doctor: what of all that a script may need is there, and what helps where it is not\n\n"
      "ends with 0, or with 1 after a warning; what is only absent is needed by few scripts\n");
  app.add_flag("--json", words.as_json, "As JSON, with the number of its form in `schema`");
}

}  // namespace

const Verb doctor_verb = {.name = "doctor",
                          .about = "What of all that a script may need is there, and what helps where it is not",
                          .run = [](const std::vector<std::string>& words) -> int {
                            CLI::App app("", "raddle doctor");
                            DoctorWords read;
                            add_doctor_options(app, read);
                            if (const std::optional<int> code = parse_verb(app, words, "doctor")) return *code;
                            const std::vector<Finding> findings = check_all();
                            if (!write_output(read.as_json ? as_json(findings) : as_text(findings))) return exit_failed;
                            return std::ranges::any_of(findings,
                                                       [](const Finding& one) { return one.health == Health::warning; })
                                       ? exit_failed
                                       : exit_ok;
                          },
                          .describe = [](CLI::App& app) { describe_with(app, add_doctor_options); }};

}  // namespace raddle::tool
