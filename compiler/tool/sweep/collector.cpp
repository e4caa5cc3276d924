#include "compiler/tool/sweep/collector.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <set>
#include <utility>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/quantities.hpp"
#include "stdlib/native/pattern.hpp"
#include "vm/external/processes.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/shown_text.hpp"

namespace raddle::sweep {
namespace {

using Members = std::vector<JsonMember>;

constexpr std::size_t most_matched = std::size_t{4} << 20;  // matching takes some 20 times as much memory, and 2 s
constexpr std::size_t most_read = std::size_t{64} << 20;    // reading JSON takes some eight times as much memory

constexpr std::size_t most_levels = 100;  // of objects in objects: each name has those of all around it

constexpr const char* forms = "json:, csv:, regex:EXPRESSION, json:FILE, csv:FILE, regex(FILE):EXPRESSION";

/// Bytes that are no UTF-8, and halves of surrogate pairs, are no reason to lose the other members.
std::expected<Members, std::string> take_json(const std::string& output) {
  const std::string text = with_paired_surrogates(vm::valid_text(output));
  for (const std::string& candidate : {text, last_line(text)}) {
    std::optional<Members> members = flat_members(candidate, most_levels);
    if (!members) return std::unexpected(fmt::format("objects in more than {} objects", most_levels));
    if (!members->empty()) return std::move(*members);
  }
  return std::unexpected("no JSON object");
}

std::expected<Members, std::string> take_csv(const std::string& text) {
  const auto table = CsvTable::parse(text, "csv");
  if (!table) return std::unexpected(table.error());
  if (table->size() == 0) return std::unexpected("no row of CSV");
  Members members;
  std::vector<std::string> row = table->row(table->size() - 1);
  for (std::size_t i = 0; i < row.size(); ++i) members.push_back({table->columns()[i], std::move(row[i])});
  return members;
}

// The word before `=` or `:` before a group names it: `E=(\S+)`, `total energy: (.*)`.
std::string group_name(const std::string& expression, std::size_t open, std::size_t number, std::size_t count) {
  std::size_t end = open;
  const auto sign = [&](std::size_t i) { return static_cast<unsigned char>(expression[i]); };
  const auto skip_blanks = [&] {
    constexpr std::string_view blanks = " *+?";
    for (;;) {
      if (end > 0 && blanks.find(expression[end - 1]) != std::string_view::npos)
        --end;
      else if (end > 1 && expression.compare(end - 2, 2, "\\s") == 0)
        end -= 2;
      else
        return;
    }
  };
  skip_blanks();
  const bool is_named = end > 0 && (expression[end - 1] == '=' || expression[end - 1] == ':');
  if (is_named) --end;
  if (is_named) skip_blanks();
  std::size_t begin = end;
  while (is_named && begin > 0 && (std::isalnum(sign(begin - 1)) != 0 || sign(begin - 1) == '_')) --begin;
  if (begin < end) return expression.substr(begin, end - begin);
  return count == 1 ? "value" : fmt::format("value{}", number);
}

std::vector<std::string> group_names(const std::string& expression, std::size_t count) {
  std::vector<std::string> names;
  bool in_brackets = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '\\') {
      ++i;
    } else if (in_brackets) {
      in_brackets = expression[i] != ']';
    } else if (expression[i] == '[') {
      in_brackets = true;
    } else if (expression[i] == '(' && expression.compare(i, 3, "(?:") != 0) {
      names.push_back(group_name(expression, i, names.size() + 1, count));
    }
  }
  if (names.empty()) names.push_back("value");
  return names;
}

std::string where_of(const std::string& text) {
  return text.size() < most_read ? "" : fmt::format("the last {} bytes of ", with_commas(text.size()));
}

/// A regular file, or the end of a large one: a pipe or a device may have no end. @return  why it can not be read, else
std::expected<std::string, std::string> text_of_file(const std::string& path, bool needs_begin) {
  const vm::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // no wait for a pipe's writer
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0) return std::unexpected(vm::error_text(errno));
  if (S_ISDIR(status.st_mode)) return std::unexpected("it is a folder");
  if (!S_ISREG(status.st_mode)) return std::unexpected("it is no regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (needs_begin && size > most_read)
    return std::unexpected(fmt::format("it has {} bytes, more than {}", with_commas(size), with_commas(most_read)));
  return vm::end_of(file, size, most_read);
}

/// Of a line that is longer than what is kept of the output its beginning.
std::string short_line(std::string line) {
  if (line.size() <= vm::kept_output_bytes) return line;
  std::size_t size = vm::kept_output_bytes;
  while (size > 0 && (static_cast<unsigned char>(line[size]) & 0xC0U) == 0x80U) --size;  // no half a character
  line.resize(size);
  return line + fmt::format(" .. (cut: a line of more than {} bytes)", vm::kept_output_bytes);
}

class TakeMatch {
 public:
  TakeMatch(stdlib::native::Pattern pattern, std::vector<std::string> names, std::string expression)
      : pattern_(std::move(pattern)), names_(std::move(names)), expression_(std::move(expression)) {}
  std::expected<Members, std::string> operator()(const std::string& text) const {
    std::optional<std::vector<std::string>> last;
    std::size_t unread = 0;  // bytes of a line behind the last match, which may be another one
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (end - begin > most_matched) {
        unread = end - begin;
      } else if (auto match = pattern_.groups(text.substr(begin, end - begin))) {
        last = std::move(match);
        unread = 0;
      }
      begin = end + 1;
    }
    if (unread != 0)
      return std::unexpected(fmt::format("`{}` is not looked for in a line of {} bytes, more than {}, as there is one",
                                         expression_, with_commas(unread), with_commas(most_matched)));
    if (!last) return std::unexpected(fmt::format("no line matches `{}`", expression_));
    Members members;
    for (std::size_t i = 0; i < last->size() && i < names_.size(); ++i)
      members.push_back({names_[i], std::move((*last)[i])});
    return members;
  }

 private:
  stdlib::native::Pattern pattern_;
  std::vector<std::string> names_;
  std::string expression_;
};

}  // namespace

std::expected<Collector, OptionError> Collector::parse(const std::string& word,
                                                       const std::vector<Parameter>& parameters) {
  const auto error = [&](std::size_t begin, std::size_t end, std::string message, std::string help = "") {
    return std::unexpected(OptionError{"--collect", word, {std::move(message), begin, end, std::move(help)}});
  };
  Collector made;
  std::string file;
  std::size_t file_begin = 0;
  if (word.starts_with("json:") || word.starts_with("csv:")) {
    file_begin = word.find(':') + 1;
    file = word.substr(file_begin);
    made.take_ = word[0] == 'j' ? TakeResults(take_json) : TakeResults(take_csv);
    made.needs_begin_ = word[0] == 'c';
  } else if (word.starts_with("regex:") || word.starts_with("regex(")) {
    std::size_t begin = word.find(':') + 1;
    if (word[5] == '(') {
      const std::size_t close = word.find("):");
      if (close == std::string::npos) return error(5, word.size(), "`):` and an expression are missing", forms);
      file_begin = 6;
      file = word.substr(file_begin, close - file_begin);
      if (file.empty()) return error(5, close + 1, "the file's name is missing", forms);
      begin = close + 2;
    }
    const std::string expression = word.substr(begin);
    if (expression.empty()) return error(word.size(), word.size(), "the expression is missing", forms);
    for (const char* lazy : {"*?", "+?"})
      if (const std::size_t at = expression.find(lazy); at != std::string::npos)
        return error(begin + at, begin + at + 2, "not supported yet: a match as short as possible",
                     "name what may not stand in it: [^,]* up to a comma");
    auto pattern = stdlib::native::Pattern::compile(expression);
    if (!pattern) return error(begin, word.size(), pattern.error());
    made.names_ = group_names(expression, pattern->group_count());
    made.take_ = TakeMatch(std::move(*pattern), made.names_, expression);
  } else {
    return error(0, std::min(word.find(':'), word.size()), "no such kind of result", forms);
  }
  if (file.empty()) return made;
  auto path = CommandTemplate::parse({file}, parameters);
  if (!path) {
    const ArgumentError& found = path.error().error;
    return error(file_begin + found.begin, file_begin + found.end, found.message, found.help);
  }
  made.file_.push_back(std::move(*path));
  return made;
}

std::string Collector::file_for(const Point& point, const RunPlace& place) const {
  return file_.front().words_for(point, place).front();
}

std::optional<vm::FileState> Collector::file_before(const Point& point, const RunPlace& place) const {
  return file_.empty() ? std::nullopt : vm::settled_state_of(file_for(point, place));
}

std::expected<Members, std::string> Collector::collect(const Point& point, const RunPlace& place,
                                                       const std::string& output,
                                                       const std::optional<vm::FileState>& before) const {
  if (file_.empty()) {
    auto members = take_(output);
    if (members) return members;
    return std::unexpected(fmt::format("{} in {}standard output", members.error(), where_of(output)));
  }
  const std::string path = file_for(point, place);
  if (before && vm::state_of(path) == before)
    return std::unexpected(fmt::format("`{}` was there before: this point has not written it", path));
  const auto text = text_of_file(path, needs_begin_);
  if (!text) return std::unexpected(fmt::format("can not read `{}`: {}", path, text.error()));
  auto members = take_(*text);
  if (members) return members;
  return std::unexpected(fmt::format("{} in {}`{}`", members.error(), where_of(*text), path));
}

std::size_t collected_output_bytes(const std::vector<Collector>& collectors) {
  return collectors.empty() ? most_result_bytes : most_read;
}

std::string fault_of_size(std::string_view name, std::string_view value) {
  if (value.size() <= most_result_bytes) return "";
  return fmt::format("`{}` has {} bytes, a result has {} at most", name, with_commas(value.size()),
                     with_commas(most_result_bytes));
}

FilesBefore files_before(const std::vector<Collector>& collectors, const Point& point, const RunPlace& place) {
  FilesBefore before;
  for (const Collector& collector : collectors) before.push_back(collector.file_before(point, place));
  return before;
}

InputFiles::Outputs outputs_of(const std::vector<Collector>& collectors, const Point& point, const RunPlace& place,
                               const FilesBefore& before) {
  InputFiles::Outputs outputs;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (collectors[i].has_file_of_point()) outputs.emplace(collectors[i].file_for(point, place), before[i].has_value());
  return outputs;
}

std::string fault_of_name(std::string_view name) { return fmt::format("two results have the name `{}`", name); }

std::expected<std::string, std::string> collect_all(const std::vector<Collector>& collectors, const Point& point,
                                                    const RunPlace& place, const std::string& output,
                                                    const FilesBefore& before) {
  JsonObject results;
  std::set<std::string> names;
  if (collectors.empty()) {
    const std::string line = last_line(output);
    if (line.empty() && output.size() >= most_result_bytes)
      return std::unexpected(fmt::format("the last {} bytes of standard output are blank", with_commas(output.size())));
    results.add(printed_result, json_string(short_line(line)));
  }
  for (std::size_t i = 0; i < collectors.size(); ++i) {
    const auto members = collectors[i].collect(point, place, output, i < before.size() ? before[i] : std::nullopt);
    if (!members) return std::unexpected(members.error());
    for (const JsonMember& member : *members) {
      if (std::string fault = fault_of_size(member.name, member.text); !fault.empty())
        return std::unexpected(std::move(fault));
      if (!names.insert(member.name).second) return std::unexpected(fault_of_name(member.name));
      results.add(member.name, json_of(member));
    }
  }
  return results.text();
}

std::string last_line(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', last);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, last + 1 - begin);
}

}  // namespace raddle::sweep
