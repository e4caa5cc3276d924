// Files: input, content, lines, what the file system knows.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <optional>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/parse_number.hpp"
#include "stdlib/native/pattern.hpp"
#include "vm/value/file_descriptor.hpp"
#include "vm/value/file.hpp"
#include "vm/value/matching_paths.hpp"
#include "vm/value/temporaries.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::File;
using vm::Value;

const std::string& path_of(const Value& value) {
  return value.kind() == vm::ValueKind::file ? value.as_file().path() : value.as_string();
}

// Writes the file that came as the first argument.
Result fill(Arguments arguments, std::string_view bytes) { return write_file(arguments[0].as_file(), bytes); }

/// With errno where there is none. @param get  stat or lstat
std::optional<struct stat> status_of(const std::string& path, int (*get)(const char*, struct stat*) = stat) {
  struct stat status {};
  errno = ENOENT;  // for a path with a zero byte, which no file has
  if (vm::has_zero_byte(path) || get(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

Result no_such_file(const char* function, const std::string& path) {
  return fail(fmt::format("{}: could not read `{}`: {}", function, path, vm::error_text(errno)));
}

// Tcl's words.
const char* type_text(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "directory";
    case S_IFLNK: return "link";
    case S_IFCHR: return "characterSpecial";
    case S_IFBLK: return "blockSpecial";
    case S_IFIFO: return "fifo";
    case S_IFSOCK: return "socket";
  }
  return "file";
}

// Lines of a file with the comments cut off; none: comments are not recognised.
class Lines {
 public:
  static std::expected<Lines, std::string> of(const std::string& path, const std::string& comment) {
    auto text = read_file(path);
    if (!text) return std::unexpected(std::move(text.error()));
    Lines lines(std::move(*text));
    if (comment.empty()) return lines;
    auto pattern = Pattern::compile(comment);
    if (!pattern) return std::unexpected(std::move(pattern.error()));
    lines.comment_ = std::move(*pattern);
    return lines;
  }
  std::optional<std::string> next() {
    if (begin_ >= text_.size()) return std::nullopt;
    const std::size_t end = std::min(text_.find('\n', begin_), text_.size());
    std::string line = text_.substr(begin_, end - begin_);
    begin_ = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    if (comment_) line.resize(comment_->find(line).value_or(line.size()));
    return line;
  }

 private:
  explicit Lines(std::string text) : text_(std::move(text)) {}
  std::string text_;
  std::size_t begin_ = 0;
  std::optional<Pattern> comment_;
};

// One that the script asks for by name is the script's: it stays.
std::expected<std::string, std::string> make_lasting_temporary() {
  std::string path = vm::temporary_folder() + "/raddle_XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return std::unexpected(no_temporary());
  close(fd);
  return path;
}

Result existing_file(std::string_view function, Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_string();
  if (!status_of(path)) return fail(fmt::format("{}: file '{}' does not exist", function, path));
  return give(results, File::existing(path));
}

}  // namespace

Result input(Call, Arguments arguments, Results results) { return existing_file("input", arguments, results); }
Result input_file(Call, Arguments arguments, Results results) {
  return existing_file("input_file", arguments, results);
}
Result unsafe_uncached_input_file(Call, Arguments arguments, Results results) {
  return existing_file("unsafe_uncached_input_file", arguments, results);
}

Result input_url(Call, Arguments arguments, Results results) {
  return give(results, File::existing(arguments[0].as_string()));
}

Result filename(Call, Arguments arguments, Results results) {
  const std::string& path = arguments[0].as_file().path();
  if (path.empty()) return fail(no_temporary());
  return give(results, Value::of(path));
}

// In the order of the names.
Result glob_(Call, Arguments arguments, Results results) {
  const auto paths = vm::matching_paths(arguments[0].as_string());
  if (!paths) return fail("glob: out of memory");
  std::vector<Value> files;
  for (const std::string& path : *paths) files.push_back(File::existing(path));
  return give(results, dense_array(std::move(files)));
}

Result read_(Call, Arguments arguments, Results results) {
  auto text = read_file(path_of(arguments[0]));
  if (!text) return fail(std::move(text.error()));
  return give(results, Value::of(std::move(*text)));
}

Result write_(Call, Arguments arguments, Results) { return fill(arguments, arguments[1].as_string()); }

Result file_lines(Call, Arguments arguments, Results results) {
  auto lines = Lines::of(path_of(arguments[0]), arguments[1].as_string());
  if (!lines) return fail(std::move(lines.error()));
  std::vector<std::string> kept;
  while (const auto line = lines->next()) {
    if (const std::string_view text = trimmed(*line); !text.empty()) kept.emplace_back(text);
  }
  return give(results, string_array(std::move(kept)));
}

// A line that equals the delimiter separates chunks; blank lines are dropped, chunks trimmed.
Result file_chunks(Call, Arguments arguments, Results results) {
  auto lines = Lines::of(path_of(arguments[0]), std::string(trimmed(arguments[2].as_string())));
  if (!lines) return fail(std::move(lines.error()));
  std::vector<std::string> chunks;
  std::string chunk;
  const auto end_chunk = [&] { chunks.emplace_back(trimmed(std::exchange(chunk, {}))); };
  while (const auto line = lines->next()) {
    if (*line == arguments[1].as_string()) {
      end_chunk();
    } else if (!line->empty()) {
      (chunk += chunk.empty() ? "" : "\n") += *line;
    }
  }
  if (!chunk.empty()) end_chunk();
  return give(results, string_array(std::move(chunks)));
}

Result file_exists(Call, Arguments arguments, Results results) {
  return give(results, Value::of(status_of(path_of(arguments[0])).has_value()));
}

Result file_mtime(Call, Arguments arguments, Results results) {
  const auto status = status_of(path_of(arguments[0]));
  if (!status) return no_such_file("file_mtime", path_of(arguments[0]));
  return give(results, Value::of(std::int64_t{status->st_mtime}));
}

Result file_size(Call, Arguments arguments, Results results) {
  const auto status = status_of(path_of(arguments[0]));
  if (!status) return no_such_file("file_size", path_of(arguments[0]));
  return give(results, Value::of(std::int64_t{status->st_size}));
}

Result file_size0(Call, Arguments arguments, Results results) {
  const auto status = status_of(path_of(arguments[0]));
  return give(results, Value::of(std::int64_t{status ? status->st_size : 0}));
}

Result file_type(Call, Arguments arguments, Results results) {
  const char* name = arguments[0].kind() == vm::ValueKind::string ? "file_type_string" : "file_type";
  const auto status = status_of(path_of(arguments[0]), lstat);
  if (!status) return no_such_file(name, path_of(arguments[0]));
  return give(results, Value::of(std::string(type_text(status->st_mode))));
}

/// @return why there is none, with the function's name
std::expected<std::string, std::string> real_path(const char* function, const std::string& path) {
  std::error_code error;
  std::string real;
  if (vm::has_zero_byte(path))  // no file has one
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  else
    real = std::filesystem::weakly_canonical(path, error).string();
  if (error) return std::unexpected(fmt::format("{}: `{}`: {}", function, path, vm::error_text(error.value())));
  return real;
}

Result realpath_file(Call, Arguments arguments, Results results) {
  const auto path = real_path("realpath", path_of(arguments[0]));
  return path ? give(results, File::existing(*path)) : fail(path.error());
}

Result realpath_string(Call, Arguments arguments, Results results) {
  const auto path = real_path("realpath_string", path_of(arguments[0]));
  return path ? give(results, Value::of(*path)) : fail(path.error());
}

Result mktemp_file(Call, Arguments, Results results) {
  auto path = make_lasting_temporary();
  if (!path) return fail(std::move(path.error()));
  return give(results, File::existing(std::move(*path)));
}

Result mktemp_string(Call, Arguments, Results results) {
  auto path = make_lasting_temporary();
  if (!path) return fail(std::move(path.error()));
  return give(results, Value::of(std::move(*path)));
}

// Lines "key value"; the size of the pieces that Swift/T reads the array in does not matter here.
Result write_array_string(Call, Arguments arguments, Results) {
  std::string text;
  arguments[1].as_array().for_each(
      [&](const Value& key, const Value& value) { text += fmt::format("{} {}\n", key.as_int(), value.as_string()); });
  return fill(arguments, text);
}

Result write_array_string_ordered(Call, Arguments arguments, Results) {
  std::string text;
  for (const Value& value : elements(arguments[1])) (text += value.as_string()) += '\n';
  return fill(arguments, text);
}

}  // namespace raddle::stdlib::native
