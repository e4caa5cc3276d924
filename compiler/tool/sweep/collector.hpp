#pragma once
// `--collect`: takes results out of what a run has printed or written.
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/sweep/input_files.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/value/file_identity.hpp"

namespace raddle::sweep {

/// One `--collect`.
///   json:        all members of a JSON object: the whole output, or else its last line; nested ones are `a.b`, down to
///                100 levels. Strings stay strings
///   csv:         the last row, under the names in the first one; of a file of 64 MiB at most
///   regex:EXPR   each group of the last line that matches
/// of standard output, or of a file: json:FILE, csv:FILE, regex(FILE):EXPR with placeholders in FILE. Of what is longer
/// than 64 MiB its end is read.
class Collector {
 public:
  static std::expected<Collector, OptionError> parse(const std::string& word, const std::vector<Parameter>& parameters);
  bool reads_file() const { return !file_.empty(); }
  /// Of its results; none: what it reads has them.
  const std::vector<std::string>& names() const { return names_; }
  /// @param before  file_before() the point was run: what it has not written itself is none of its results
  /// @return why there are no results, else
  std::expected<std::vector<JsonMember>, std::string> collect(const Point& point, const RunPlace& place,
                                                              const std::string& output,
                                                              const std::optional<vm::FileState>& before) const;
  /// What was there before the point is run, of an earlier point or the user's own.
  std::optional<vm::FileState> file_before(const Point& point, const RunPlace& place) const;
  /// The file that it reads at a point. @pre reads_file()
  std::string file_for(const Point& point, const RunPlace& place) const;
  /// Its file is named by {%}: points that run at once have others.
  bool is_by_slot() const { return !file_.empty() && file_.front().uses(CommandTemplate::slot); }
  /// Its file is named by the point, which others leave alone.
  bool has_file_of_point() const { return !file_.empty() && file_.front().has_placeholders() && !is_by_slot(); }
  /// Its file lies where a RunPlace says.
  bool needs_place() const { return !file_.empty() && !file_.front().is_plain(); }

 private:
  using TakeResults = std::function<std::expected<std::vector<JsonMember>, std::string>(const std::string& text)>;
  TakeResults take_;
  bool needs_begin_ = false;  ///< the end of a text alone has no results
  std::vector<std::string> names_;
  std::vector<CommandTemplate> file_;  // none, or one of one word
};

/// The result where there is no collector: the last line that was printed.
inline constexpr std::string_view printed_result = "stdout";

/// More is no value of a result: a line without end would fill the record.
inline constexpr std::size_t most_result_bytes = std::size_t{1} << 20;

/// How much of the end of what a run prints they look at.
std::size_t collected_output_bytes(const std::vector<Collector>& collectors);

/// Why it can not be kept; "": it can. @param name  of the result   @param value  as text
std::string fault_of_size(std::string_view name, std::string_view value);

/// Of a result that has the name of another one.
std::string fault_of_name(std::string_view name);

/// What the files of collectors were, by collector.
using FilesBefore = std::vector<std::optional<vm::FileState>>;

/// The results of all collectors as a JSON object; without a collector a longer line is cut, which is said in it.
/// @return or why one has none
/// @param before  files_before() the point was run; none: none of them reads a file
std::expected<std::string, std::string> collect_all(const std::vector<Collector>& collectors, const Point& point,
                                                    const RunPlace& place, const std::string& output,
                                                    const FilesBefore& before = {});

/// Before the point is run.
FilesBefore files_before(const std::vector<Collector>& collectors, const Point& point, const RunPlace& place);

/// The files that collectors read and that are the point's own. @param before  files_before() it was run
InputFiles::Outputs outputs_of(const std::vector<Collector>& collectors, const Point& point, const RunPlace& place,
                               const FilesBefore& before);

/// The last line that is not blank.
std::string last_line(const std::string& text);

}  // namespace raddle::sweep
