#pragma once
// `U(0,1)`, `N(mu,sigma)`, `logU(lo,hi)`, `intU(lo,hi)`: what is drawn for one parameter.
#include <expected>
#include <string_view>

#include "compiler/tool/formats/argument_error.hpp"

namespace raddle::sweep {

class Distribution {
 public:
  /// @param offset  of `text` in the word of the command line, for the errors
  static std::expected<Distribution, ArgumentError> parse(std::string_view text, std::size_t offset);
  /// The value below which the share `unit` of all values lies. @param unit  in the open interval (0, 1)
  double quantile(double unit) const;
  /// All values are whole numbers.
  bool is_whole() const { return kind_ == Kind::whole; }

 private:
  enum class Kind : unsigned char { uniform, normal, log_uniform, whole };
  Kind kind_ = Kind::uniform;
  double first_ = 0, second_ = 1;
};

}  // namespace raddle::sweep
