#pragma once
// The container of the members of a JSON object, for nlohmann's library.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace raddle::stdlib::native {

/// Members in the order of the text. Those of large objects are found by an index: nlohmann::ordered_map compares all.
template <typename Key, typename T, typename, typename Allocator>
class MemberMap : public std::vector<std::pair<const Key, T>, Allocator> {
 public:
  using key_type = Key;
  using mapped_type = T;
  using Container = std::vector<std::pair<const Key, T>, Allocator>;
  using iterator = typename Container::iterator;
  using const_iterator = typename Container::const_iterator;
  using key_compare = std::equal_to<>;

  MemberMap() = default;
  template <typename Iterator>
  MemberMap(Iterator first, Iterator last) {
    for (; first != last; ++first) emplace(first->first, T(first->second));
  }
  iterator find(std::string_view key) { return this->begin() + (std::as_const(*this).find(key) - this->cbegin()); }
  const_iterator find(std::string_view key) const {
    if (this->size() <= most_compared)
      return std::ranges::find(*this, key, [](const auto& member) -> std::string_view { return member.first; });
    const auto known = index_.find(key);
    return known == index_.end() ? this->end() : this->begin() + static_cast<std::ptrdiff_t>(known->second);
  }
  std::pair<iterator, bool> emplace(std::string_view key, T&& value) {
    if (const iterator known = find(key); known != this->end()) return {known, false};
    Container::emplace_back(Key(key), std::move(value));
    if (this->size() > most_compared)
      for (std::size_t i = index_.size(); i < this->size(); ++i) index_.emplace((*this)[i].first, i);
    return {std::prev(this->end()), true};
  }
  T& operator[](std::string_view key) { return emplace(key, T()).first->second; }
  iterator erase(const_iterator) { std::unreachable(); }  // the library asks for it where a callback refuses a member

 private:
  using Container::operator[];  // by number
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  static constexpr std::size_t most_compared = 16;
  std::unordered_map<Key, std::size_t, TextHash, std::equal_to<>> index_;  // of all, once there are more than that
};

}  // namespace raddle::stdlib::native
