#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace raddle::sweep {

/// Names in the order in which they first come; none is looked for among all of them.
class NameList {
 public:
  NameList() = default;
  explicit NameList(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }
  /// @return where it stands, now or already
  std::size_t add(std::string_view name) {
    const auto [found, is_new] = places_.try_emplace(std::string(name), names_.size());
    if (is_new) names_.emplace_back(name);
    return found->second;
  }
  /// @param guess  where it stands perhaps
  std::optional<std::size_t> find(std::string_view name, std::size_t guess = 0) const {
    if (guess < names_.size() && names_[guess] == name) return guess;
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
};

}  // namespace raddle::sweep
