#include "compiler/driver/run_picture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/driver/commands.hpp"
#include "compiler/driver/runs.hpp"
#include "compiler/driver/usage.hpp"

namespace raddle::driver {

int write_picture(const std::string& path, const PictureVerb& verb, bool for_terminal, const sweep::Writing& writing) {
  const bool to_stdout = path.empty() || path == "-";
  if (to_stdout && !for_terminal && isatty(STDOUT_FILENO) != 0)
    return usage_error(fmt::format("this is not for a terminal: raddle {} -o {}", verb.name, verb.example), verb.name);
  const auto written = to_stdout ? sweep::write_to_stdout(writing) : sweep::write_file(path, writing);
  if (written) return exit_ok;
  fmt::print(stderr, "raddle: {}\n", written.error());
  return exit_failed;
}

int draw_run(const std::vector<std::string>& words, const PictureVerb& verb, const DrawRun& draw,
             const std::function<void(CLI::App&)>& add_options) {
  CLI::App app(verb.about, fmt::format("raddle {}", verb.name));
  std::string name, path;
  app.add_option("RUN", name, "A run's id, its beginning or its end; none: the latest")->type_name("");
  app.add_option("-o,--output", path, fmt::format("{}; none or `-`: standard output", verb.output))->type_name("FILE");
  if (add_options) add_options(app);
  if (const std::optional<int> code = parse_verb(app, words, verb.name)) return *code;
  return with_record([&]() -> int {
    const std::expected<vm::RunRow, int> run = find_run(name);
    if (!run) return run.error();
    return write_picture(path, verb, /*for_terminal=*/false, [&](sweep::Writer& writer) {
      vm::RunRecord record = *vm::RunRecord::open();
      record.read_together([&] { draw(record, *run, writer); });
    });
  });
}

}  // namespace raddle::driver
