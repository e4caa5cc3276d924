#include "stdlib/expand_definition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace raddle::stdlib {
namespace {

bool is_of_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

/// What repeats its first argument, and what comes in between.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> repeating = {
    {{"EACH", ", "}, {"SUM", ") + ("}, {"PRODUCT", ") * ("}, {"ALL", ") && ("}}};

class Expander {
 public:
  Expander(const Definition& definition, std::string_view type, unsigned rank, const AppendPart& append)
      : definition_(definition), type_(type), rank_(rank), append_(append) {}

  void expand(std::string_view text) {
    text_ = text;
    std::size_t copied = 0;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_of_name(text[end])) ++end;
      if (end == at) {
        end = at + 1;
        const std::string extents = text[at] == '[' ? extents_at(at, end) : "";
        if (!extents.empty()) replace(copied, at, end, extents);
      } else if (const std::string made = repeated_at(at, end); !made.empty()) {
        replace(copied, at, end, made);
      } else if (const std::string made = instead_of(at, end); !made.empty()) {
        replace(copied, at, end, made);
      }
      at = end;
    }
    copy(copied, text.size());
  }

 private:
  void copy(std::size_t from, std::size_t to) {
    if (from < to) append_(text_.substr(from, to - from), text_.substr(from, to - from));
  }
  void replace(std::size_t& copied, std::size_t at, std::size_t end, const std::string& made) {
    copy(copied, at);
    append_(made, text_.substr(at, end - at));
    copied = end;
  }

  /// "R", "R - 1", "R + 1", or a number. @return -1: none of these
  int rank_of(std::string_view text) const {
    text = trimmed(text);
    int number = 0;
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        error == std::errc() && end == text.data() + text.size())
      return number;
    if (rank_ == 0 || !text.starts_with(definition_.rank_variable)) return -1;
    const std::string_view more = text.substr(1);
    const int rank = static_cast<int>(rank_);
    return more.empty() ? rank : more == " - 1" ? rank - 1 : more == " + 1" ? rank + 1 : -1;
  }

  /// Of a type. @param end  becomes the place behind it
  std::string extents_at(std::size_t at, std::size_t& end) const {
    const std::size_t close = text_.find(']', at);
    if (close == std::string_view::npos || rank_ == 0) return "";
    const std::string_view inside = text_.substr(at + 1, close - at - 1);
    if (!inside.starts_with(definition_.rank_variable)) return "";
    const int rank = rank_of(inside);
    if (rank < 1) return "";
    end = close + 1;
    std::string extents = "[:";
    for (int i = 1; i < rank; ++i) extents += ", :";
    return extents + "]";
  }

  /// The arguments of a call whose parenthesis is there. @param end  becomes the place behind it
  std::vector<std::string_view> arguments_at(std::size_t open, std::size_t& end) const {
    std::vector<std::string_view> all;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t at = open; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      if ((c == ',' && depth == 1) || depth == 0) {
        all.push_back(trimmed(text_.substr(begin, at - begin)));
        begin = at + 1;
      }
      if (depth == 0) {
        end = at + 1;
        return all;
      }
    }
    return {};
  }

  /// Of a name. @param end  may become a place behind it  @return "": it stays
  std::string instead_of(std::size_t at, std::size_t& end) const {
    const std::string_view name = text_.substr(at, end - at);
    if (name == std::string_view(&definition_.type_variable, 1)) return std::string(type_);
    if (rank_ == 0) return "";
    if (name == std::string_view(&definition_.rank_variable, 1)) return std::to_string(rank_);
    const auto found = std::ranges::find(repeating, name, [](const auto& each) { return each.first; });
    if (found == repeating.end() || end == text_.size() || text_[end] != '(') return "";
    const std::vector<std::string_view> arguments = arguments_at(end, end);
    if (arguments.size() < 2) return "";
    const int last = rank_of(arguments.back());
    const int first = arguments.size() == 3 ? rank_of(arguments[1]) : 0;
    const std::string all = repeated(arguments.front(), first, last, found->second);
    return found->first == "EACH" ? all : "((" + all + "))";
  }

  /// `int nK`, `iK in [..]`. @param end  of a name; becomes the place behind all of it  @return "": it is none
  std::string repeated_at(std::size_t at, std::size_t& end) const {
    if (rank_ == 0) return "";
    std::size_t behind = end;
    if (text_.substr(at, end - at).ends_with('K') && text_.substr(end).starts_with(" in [")) {
      arguments_at(text_.find('[', end), behind);
    } else if (text_.substr(at, end - at) == "int") {
      behind = end + 1;
      while (behind < text_.size() && is_of_name(text_[behind])) ++behind;
      if (!text_.substr(end, behind - end).ends_with('K')) return "";
    } else {
      return "";
    }
    end = behind;
    return repeated(text_.substr(at, end - at), 0, static_cast<int>(rank_), ", ");
  }

  std::string repeated(std::string_view item, int first, int last, std::string_view between) const {
    std::string all;
    for (int i = first; i < last; ++i) {
      std::string one = expanded_inside(item);
      for (const auto& [sign, number] : {std::pair('K', i), std::pair('L', i + 1)})
        for (std::size_t k = one.find(sign); k != std::string::npos; k = one.find(sign, k))
          one.replace(k, 1, std::to_string(number));
      if (i != first) all += between;
      all += one;
    }
    return all;
  }

  /// Variables only: what is repeated repeats nothing itself.
  std::string expanded_inside(std::string_view item) const {
    std::string all;
    for (std::size_t at = 0; at < item.size();) {
      std::size_t end = at;
      while (end < item.size() && is_of_name(item[end])) ++end;
      const std::string_view name = item.substr(at, std::max<std::size_t>(end - at, 1));
      if (name == std::string_view(&definition_.type_variable, 1))
        all += type_;
      else if (name == std::string_view(&definition_.rank_variable, 1))
        all += std::to_string(rank_);
      else
        all += name;
      at += name.size();
    }
    return all;
  }

  const Definition& definition_;
  const std::string_view type_;
  const unsigned rank_;
  const AppendPart& append_;
  std::string_view text_;
};

}  // namespace

void expand(std::string_view text, const Definition& definition, std::string_view type, unsigned rank,
            const AppendPart& append) {
  Expander(definition, type, rank, append).expand(text);
}

std::string expanded(std::string_view text, const Definition& definition, std::string_view type, unsigned rank) {
  std::string all;
  expand(text, definition, type, rank, [&all](std::string_view part, std::string_view) { all += part; });
  return all;
}

}  // namespace raddle::stdlib
