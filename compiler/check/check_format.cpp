#include "compiler/check/check_format.hpp"

#include <fmt/format.h>

#include <string_view>

#include "compiler/check/constant_value.hpp"
#include "compiler/check/convert.hpp"
#include "stdlib/native/format.hpp"

namespace raddle::check_detail {
namespace {

/// What a specifier does with a value.
enum class Needs : std::uint8_t { anything, int_, float_ };

std::optional<Needs> needs_of(char conversion) {
  if (std::string_view("diuxXobc").contains(conversion)) return Needs::int_;
  if (std::string_view("feEgG").contains(conversion)) return Needs::float_;
  if (conversion == 's') return Needs::anything;
  return std::nullopt;
}

class FormatChecker {
 public:
  FormatChecker(Context& context, const ast::Expr& format, const std::vector<ast::Expr*>& values, std::string_view text)
      : context_(context), format_(format), values_(values), rest_(text) {}

  void check() {
    while (!failed_) {
      const std::size_t percent = rest_.find('%');
      if (percent == std::string_view::npos) break;
      rest_.remove_prefix(percent);
      if (rest_.starts_with("%%")) {
        rest_.remove_prefix(2);
      } else {
        specifier(stdlib::read_specifier(rest_));
      }
    }
    if (failed_) return;
    if (needed_ > values_.size())
      fail(fmt::format("needs {} value{}, found {}", needed_, needed_ == 1 ? "" : "s", values_.size()));
    if (needed_ < values_.size())
      context_.diagnostics
          .report(DiagnosticKind::unused_format_value, values_[needed_]->span,
                  needed_ == 0   ? "no specifiers"
                  : needed_ == 1 ? "1 specifier"
                                 : fmt::format("{} specifiers", needed_))
          .label(format_.span, "the format");
  }

 private:
  void fail(const std::string& what) {
    failed_ = true;
    context_.diagnostics.report(DiagnosticKind::bad_format, format_.span, what);
  }

  /// `2$`: the values that follow are taken from the second on.
  void position(const std::optional<std::int64_t>& given) {
    if (seen_ && given.has_value() != positional_) fail("mixes `%` and `%n$`");
    if (given) {
      next_ = *given == 0 ? values_.size() : static_cast<std::size_t>(*given - 1);
      if (next_ >= values_.size()) fail(fmt::format("asks for value {}, found {}", *given, values_.size()));
    }
    positional_ = given.has_value();
    seen_ = true;
  }

  void specifier(const stdlib::FormatSpecifier& found) {
    position(found.position);
    if (found.width.is_star) use(Needs::int_, "*");
    if (found.precision && found.precision->is_star) use(Needs::int_, "*");
    if (failed_) return;
    if (found.conversion.empty()) return fail("ends inside a specifier; a percent sign is written `%%`");
    const std::optional<Needs> needs = found.conversion.size() == 1 ? needs_of(found.conversion.front()) : std::nullopt;
    if (!needs) return fail(fmt::format("has an unknown specifier `{}`", found.written));
    use(*needs, found.written);
  }

  void use(Needs needs, std::string_view specifier) {
    const std::size_t index = next_++;
    needed_ = std::max(needed_, next_);
    if (failed_ || index >= values_.size()) return;
    const ast::Expr& value = *values_[index];
    if (needs == Needs::int_ && report_counter_of_quotient(context_, *values_[index], TypeStore::int_)) return;
    const TypeId type = context_.store().base(value.type);
    const bool is_float = TypeStore::wide(type) == TypeStore::float_ || type == TypeStore::updateable;
    if ((needs == Needs::int_ && is_float) || !reads_as(needs, value)) {
      Diagnostic& diagnostic = context_.diagnostics
                                   .report(DiagnosticKind::bad_format_value, value.span, specifier,
                                           needs == Needs::int_ ? "an `int`" : "a number", context_.name(value.type))
                                   .label(format_.span, "the format");
      if (needs == Needs::int_) suggest_quotient(context_, diagnostic, value, TypeStore::int_);
    } else if (needs != Needs::anything && type == TypeStore::string && !constant_value(context_, value))
      context_.diagnostics
          .report(DiagnosticKind::text_as_number, value.span, specifier, needs == Needs::int_ ? "an `int`" : "a number")
          .label(format_.span, "the format")
          .note("the run ends here if the text is no number; `%s` takes any value");
  }

  /// False for a constant string that is no such number. (Any other string may be one.)
  bool reads_as(Needs needs, const ast::Expr& value) const {
    if (needs == Needs::anything) return true;
    const auto constant = constant_value(context_, value);
    const auto* text = constant ? std::get_if<std::string>(&*constant) : nullptr;
    if (text == nullptr) return true;
    const vm::Value argument = vm::Value::of(*text);
    return stdlib::format_text(needs == Needs::int_ ? "%d" : "%f", std::span(&argument, 1)).has_value();
  }

  Context& context_;
  const ast::Expr& format_;
  const std::vector<ast::Expr*>& values_;
  std::string_view rest_;
  std::size_t next_ = 0, needed_ = 0;
  bool seen_ = false, positional_ = false, failed_ = false;
};

}  // namespace

void check_format(Context& context, const ast::Expr& format, const std::vector<ast::Expr*>& values) {
  const auto constant = constant_value(context, format);
  const auto* text = constant ? std::get_if<std::string>(&*constant) : nullptr;
  if (text != nullptr) FormatChecker(context, format, values, *text).check();
}

}  // namespace raddle::check_detail
