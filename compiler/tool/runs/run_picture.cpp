#include "compiler/tool/runs/run_picture.hpp"

#include <fmt/format.h>
#include "compiler/tool/command/recorded_run.hpp"
#include "compiler/tool/command/session.hpp"

namespace raddle::tool {

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
