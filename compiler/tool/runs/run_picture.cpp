#include "compiler/tool/runs/run_picture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/tool/main/commands.hpp"
#include "compiler/tool/runs/runs.hpp"
#include "compiler/tool/main/usage.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

int write_picture(const std::string& path, const PictureVerb& verb, bool for_terminal, const sweep::Writing& writing) {
  const bool to_stdout = path.empty() || path == "-";
  if (to_stdout && !for_terminal && isatty(STDOUT_FILENO) != 0)
    return usage_error(fmt::format("this is not for a terminal: raddle {} -o {}", verb.name, verb.example), verb.name);
  const auto written = to_stdout ? sweep::write_to_stdout(writing) : sweep::write_file(path, writing);
  if (written) return exit_ok;
  vm::print_stderr("raddle: {}\n", written.error());
  return exit_failed;
}

void add_draw_options(CLI::App& app, DrawWords& words, const PictureVerb& verb) {
  app.description(verb.description);
  app.add_option("RUN", words.run, "A run's id, its beginning or its end; none: the latest")->type_name("");
  app.add_option("-o,--output", words.path, fmt::format("{}; none or `-`: standard output", verb.output))
      ->type_name("FILE");
}

int draw_run(const DrawWords& words, const PictureVerb& verb, const DrawRun& draw) {
  return with_record([&]() -> int {
    const std::expected<vm::RunRow, int> run = find_run(words.run);
    if (!run) return run.error();
    return write_picture(words.path, verb, /*for_terminal=*/false, [&](sweep::Writer& writer) {
      vm::RunRecord record = *vm::RunRecord::open();
      record.read_together([&] { draw(record, *run, writer); });
    });
  });
}

}  // namespace raddle::tool
