#pragma once
// Script text and positions in it. A SourceMap lives as long as the session: spans stay valid in every phase.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raddle {

/// Half-open range of bytes [begin, end) of the file with index `file` in the SourceMap.
struct Span {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// 1-based, columns in characters (UTF-8 code points).
struct LineColumn {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A macro of the preprocessor where a script uses it: what is wrong in its text is told at `use`.
struct MacroUse {
  Span use;
  std::string name;
  Span definition;
};

/// What the paths of the library's modules begin with.
inline constexpr std::string_view library_folder = "<stdlib>/";

class SourceBuffer {
 public:
  SourceBuffer(std::string path, std::string text, std::optional<Span> included_at = std::nullopt);
  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  bool is_of_library() const { return path_.starts_with(library_folder); }
  /// @param module  "arrays"
  bool is_library_module(std::string_view module) const {
    return is_of_library() && path_ == std::string(library_folder).append(module) + ".df";
  }
  /// @param offset  byte offset, 0..text().size()
  LineColumn position(std::uint32_t offset) const;
  /// The line's text without its newline. @param line  1-based; beyond the end: ""
  std::string_view line(std::uint32_t line) const;
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_starts_.size()); }
  /// The `#include` that this text was read for.
  const std::optional<Span>& included_at() const { return included_at_; }
  /// The macro uses that lie within `range` of this file, in order.
  std::vector<const MacroUse*> macro_uses(Span range) const;
  /// Uses are added in the order of the text.
  void add_macro_use(MacroUse use) { macro_uses_.push_back(std::move(use)); }

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
  std::optional<Span> included_at_;
  std::vector<MacroUse> macro_uses_;
};

/// Owns every buffer of a session. Not thread-safe while adding; reading is.
///
/// Note [inlined text]. The body of a function that stands in the place of a call is at the same time in the function's
/// text and at the call. Its spans have a file index of their own, which says both: so the VM tells a failure with the
/// calls that led to it, and all others see the text.
class SourceMap {
 public:
  /// @return the file index to be used in spans
  std::uint32_t add(std::string path, std::string text, std::optional<Span> included_at = std::nullopt);
  const SourceBuffer& at(std::uint32_t file) const { return buffers_.at(text_of(file)); }
  /// An index for text of `file` that stands in the place of `call`: Note [inlined text].
  std::uint32_t add_inlined(std::uint32_t file, Span call);
  static constexpr std::uint32_t first_inlined = std::uint32_t{1} << 31;  ///< index
  struct Inlined {
    std::uint32_t file;
    Span call;
  };
  /// From first_inlined on.
  const std::deque<Inlined>& inlined() const { return inlined_; }
  void add_macro_use(MacroUse use) { buffers_.at(use.use.file).add_macro_use(std::move(use)); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(buffers_.size()); }
  LineColumn position(Span span) const { return at(span.file).position(span.begin); }
  /// "file.df:3:5"
  std::string describe(Span span) const;

 private:
  std::uint32_t text_of(std::uint32_t file) const {
    while (file >= first_inlined) file = inlined_.at(file - first_inlined).file;
    return file;
  }
  std::deque<SourceBuffer> buffers_;
  std::deque<Inlined> inlined_;
};

}  // namespace raddle
