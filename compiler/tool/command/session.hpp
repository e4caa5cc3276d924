#pragma once
// What lives as long as the tool works on scripts: texts, findings, options. No globals.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source_buffer.hpp"
#include "vm/place/policy.hpp"

namespace raddle::tool {

/// What the tool ends with.
enum ExitCode : int {
#define RADDLE_EXIT_CODE(name, code, meaning) name = code,
#include "compiler/tool/command/exit_codes.def"
};

struct Options {
  std::string profile;                       ///< "": none is chosen
  std::vector<std::string> include_folders;  ///< -I
  std::vector<std::string> package_folders;  ///< -r
  std::vector<std::string> macros;           ///< -D
  std::vector<std::string> imports;          ///< modules that the script has besides its own imports
  bool preprocess = true;                    ///< not -p
  unsigned workers = 0;                      ///< 0: all cores
  unsigned process_limit = 0;                ///< 0: as many as workers
  std::size_t call_memory_mib = 0;           ///< 0: half of the memory
  std::size_t memory_bytes = 0;              ///< of the numbers of arrays; 0: all there is
  std::string place{vm::default_policy};     ///< policy of calls where memory has a limit
  std::string spill_folder;                  ///< for what does not fit; "": that of temporary files
  std::string gpus = "all";                  ///< or "none", "simulated", how many
  int optimisation = 2;                      ///< 0, 1, 2
  std::string emit;                          ///< stage to print instead of running, "" to run
  std::string print_after;                   ///< pass
  std::vector<std::string> disabled_passes;
  std::string fusion = "kernels";  ///< or "off", "tasks"
  bool keep_going = false;
  bool is_quiet = false;    ///< nothing but errors on stderr
  bool is_verbose = false;  ///< programs, or points of a sweep, on stderr
  bool as_json = false;     ///< what came of a run is one line on stdout, findings included
  double timeout_s = 0;     ///< of the whole run; 0: none
  bool statistics = false;
  std::string trace;             ///< a file; "": none
  bool interpret_only = false;   ///< never compile leaves
  bool jit_cache = true;         ///< not --no-jit-cache
  bool checks_kernels = false;   ///< calls of AppKernels are made by the lanes of a warp, too
  bool takes_kept_calls = true;  ///< not --no-cache
  bool records_tasks = true;     ///< not --no-record
  bool show_results = false;
  bool warnings_are_errors = false;
  bool verify_each = false;  ///< check the IR after every pass
  std::uint64_t seed = 0;
  bool disable_asserts = false;
  std::uint64_t scheduler_seed = 0;
  unsigned patience_ms = 150;           ///< so long a session's prompt waits for an entry's end
  std::string inlining = "adaptive";    ///< or "never"
  std::string scheduler = "stealing";   ///< or "tree", "tree-fifo"
  std::uint32_t leaf_threshold = 1000;  ///< vm::RunOptions
};

struct Session {
  Options options;
  std::vector<std::string> words;         ///< of the command line, without the verb
  std::vector<std::string> option_names;  ///< of the tool: `--workers`, `-j`
  SourceMap sources;
  Diagnostics diagnostics;
  std::map<std::string, std::uint32_t> module_files;  ///< imported ones, of the library too, by path: read once
  bool colour = false;                                ///< of stderr

  /// Prints what was found since the last call to stderr; people at a terminal are told once of `raddle explain`.
  /// @return true if there are errors
  bool print_diagnostics();

 private:
  void offer_explanation();

  std::size_t printed_ = 0;
  std::optional<DiagnosticKind> to_explain_;  ///< the first error
  bool explanation_offered_ = false;
};

/// What a `--json` prints: one line, the object of `members` with the number of its form in front.
std::string json_line(std::string_view members);

/// Prints to standard output, to a terminal without control characters. @return false, after a message, if that can not
/// be written
bool write_output(std::string_view text);

/// Part of a line for standard output: on a terminal a long one is cut, a file or pipe gets all of it.
std::string cut_on_terminal(const std::string& text);

/// "raddle: warning: ..." on stderr, for what is not in a script.
void warn(const std::string& message);

/// True if `stream` is a terminal on which a line can be drawn anew: one without TERM, or with TERM=dumb, can not.
bool can_redraw(int stream);
/// True if it is one that wants colours, too (NO_COLOR).
bool wants_colour(int stream);

}  // namespace raddle::tool
