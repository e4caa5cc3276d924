#pragma once
// Which of two files with one path is written after which, as far as the data tell.
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

enum class FileOrder : std::uint8_t {
  unrelated,  ///< nothing that is written for the later one reads the earlier one
  perhaps,    ///< branches, functions or elements of arrays are between them
  surely,
};

class FileOrders {
 public:
  FileOrders(const Context& context, const std::vector<VariableUse>& all) : context_(context), all_(all) {}

  /// Whether `later` is written when `earlier` has been.
  FileOrder of(VariableId earlier, VariableId later);
  /// Whether each iteration of the loop around a file waits until the one before has written it. The loop is a `for` or
  /// `iterate`.
  bool follows_itself(VariableId file);
  /// Where `earlier` is read and it is not sure that `later` is written after that; they may be one file, of two
  /// iterations.
  std::optional<Span> late_read(VariableId earlier, VariableId later);

 private:
  /// All that has surely happened when a file is written.
  struct Past {
    std::set<VariableId> variables;                        ///< that had a value
    std::set<std::pair<std::uint32_t, std::uint32_t>> at;  ///< where they were read: file, begin
  };
  /// @param carried  what the iterations before have done counts, too
  const Past& past(VariableId file, bool carried);
  Past find_past(VariableId file, bool carried) const;
  bool may_depend(VariableId later, VariableId earlier) const;

  const Context& context_;
  const std::vector<VariableUse>& all_;
  std::unordered_map<VariableId, Past> pasts_, carried_pasts_;
};

}  // namespace raddle::check_detail
