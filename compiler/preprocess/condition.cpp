#include "compiler/preprocess/condition.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace raddle::preprocessor {

namespace {

struct Operator {
  std::string_view text;
  int level;  ///< higher binds tighter
};
// A longer one before its beginnings.
constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
                                  {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
                                  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

class Evaluator {
 public:
  Evaluator(const std::vector<Token>& tokens, Span at) : at_(at) {
    for (const Token& token : tokens)
      if (token.kind != TokenKind::blank && token.kind != TokenKind::newline) tokens_.push_back(token);
  }

  std::expected<bool, ConditionFault> run() {
    const std::int64_t value = conditional();
    if (!fault_ && next_ < tokens_.size()) fail(fmt::format("unexpected `{}` in the condition", tokens_[next_].text));
    if (fault_) return std::unexpected(*fault_);
    return value != 0;
  }

 private:
  static constexpr int deepest = 200;

  std::int64_t fail(std::string message) {
    if (!fault_) fault_ = {next_ < tokens_.size() ? tokens_[next_].from : at_, std::move(message)};
    next_ = tokens_.size();
    return 0;
  }
  bool accept(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t at = next_ + i;
      if (at >= tokens_.size() || tokens_[at].kind != TokenKind::other || tokens_[at].text != text.substr(i, 1))
        return false;
    }
    next_ += text.size();
    return true;
  }
  const Operator* accept_operator(int level) {
    const std::size_t before = next_;
    for (const Operator& one : operators) {
      if (!accept(one.text)) continue;
      if (one.level >= level) return &one;
      next_ = before;
      return nullptr;
    }
    return nullptr;
  }

  std::int64_t conditional() {
    if (++depth_ > deepest) return fail("the condition is nested too deeply");
    const std::int64_t condition = binary(1);
    std::int64_t value = condition;
    if (accept("?")) {
      const std::int64_t yes = unless(condition == 0, [&] { return conditional(); });
      if (!accept(":")) return fail("expected `:` behind `?`");
      const std::int64_t no = unless(condition != 0, [&] { return conditional(); });
      value = condition != 0 ? yes : no;
    }
    --depth_;
    return value;
  }
  /// What does not count may divide by zero.
  template <typename Read>
  std::int64_t unless(bool skipped, Read read) {
    skipped_ += skipped ? 1 : 0;
    const std::int64_t value = read();
    skipped_ -= skipped ? 1 : 0;
    return value;
  }
  std::int64_t binary(int level) {
    std::int64_t left = unary();
    for (const Operator* op = accept_operator(level); op != nullptr; op = accept_operator(level)) {
      const bool decided = (op->text == "&&" && left == 0) || (op->text == "||" && left != 0);
      const std::int64_t right = unless(decided, [&] { return binary(op->level + 1); });
      left = apply(op->text, left, right);
    }
    return left;
  }
  std::int64_t unary() {
    if (++depth_ > deepest) return fail("the condition is nested too deeply");
    std::int64_t value = 0;
    if (accept("!"))
      value = unary() == 0 ? 1 : 0;
    else if (accept("-"))
      value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(unary()));
    else if (accept("+"))
      value = unary();
    else if (accept("~"))
      value = ~unary();
    else
      value = operand();
    --depth_;
    return value;
  }
  std::int64_t operand() {
    if (accept("(")) {
      const std::int64_t value = conditional();
      return accept(")") ? value : fail("expected `)` in the condition");
    }
    if (next_ >= tokens_.size()) return fail("expected a condition");
    const Token& token = tokens_[next_];
    if (token.kind == TokenKind::number) return number(token);
    if (token.kind != TokenKind::name) return fail(fmt::format("unexpected `{}` in the condition", token.text));
    ++next_;
    return token.text == "true" ? 1 : 0;
  }
  std::int64_t number(const Token& token) {
    std::string_view digits = token.text;
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    const bool octal = digits.starts_with("0o");
    if (hexadecimal || octal) digits.remove_prefix(2);
    std::int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                        hexadecimal ? 16
                                        : octal     ? 8
                                                    : 10);
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
      return fail(fmt::format("`{}` is no integer", token.text));
    ++next_;
    return value;
  }
  /// On bits: overflow wraps, as there is nothing better to do.
  std::int64_t apply(std::string_view op, std::int64_t left, std::int64_t right) {
    const auto a = static_cast<std::uint64_t>(left);
    const auto b = static_cast<std::uint64_t>(right);
    if (op == "||") return left != 0 || right != 0 ? 1 : 0;
    if (op == "&&") return left != 0 && right != 0 ? 1 : 0;
    if (op == "==") return left == right ? 1 : 0;
    if (op == "!=") return left != right ? 1 : 0;
    if (op == "<=") return left <= right ? 1 : 0;
    if (op == ">=") return left >= right ? 1 : 0;
    if (op == "<") return left < right ? 1 : 0;
    if (op == ">") return left > right ? 1 : 0;
    if (op == "|") return left | right;
    if (op == "^") return left ^ right;
    if (op == "&") return left & right;
    if (op == "<<") return static_cast<std::int64_t>(a << (b & 63));
    if (op == ">>") return left >> (b & 63);
    if (op == "+") return static_cast<std::int64_t>(a + b);
    if (op == "-") return static_cast<std::int64_t>(a - b);
    if (op == "*") return static_cast<std::int64_t>(a * b);
    if (right == 0) return skipped_ > 0 ? 0 : fail("division by zero in the condition");
    if (right == -1) return op == "/" ? static_cast<std::int64_t>(0 - a) : 0;
    return op == "/" ? left / right : left % right;
  }

  std::vector<Token> tokens_;
  Span at_;
  std::size_t next_ = 0;
  int depth_ = 0;
  int skipped_ = 0;
  std::optional<ConditionFault> fault_;
};

}  // namespace

std::expected<bool, ConditionFault> evaluate_condition(const std::vector<Token>& tokens, Span at) {
  return Evaluator(tokens, at).run();
}

}  // namespace raddle::preprocessor
