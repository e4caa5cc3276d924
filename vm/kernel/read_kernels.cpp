#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "vm/kernel/kernel_text.hpp"
#include "vm/kernel/verify_kernel.hpp"

namespace raddle::vm {

namespace {

/// Reads what print_kernel() writes. At the first fault it stops: all that is read then means nothing.
class KernelReader {
 public:
  explicit KernelReader(std::string_view text) : whole_(text), left_(text) {}

  std::expected<std::vector<NumberedKernel>, std::string> run() {
    std::vector<NumberedKernel> kernels;
    while (skip_space(), fault_.empty() && !left_.empty()) {
      NumberedKernel read = kernel();
      if (fault_.empty()) fault_ = verify_kernel(read.kernel);
      kernels.push_back(std::move(read));
    }
    if (!fault_.empty()) return std::unexpected(fault_);
    return kernels;
  }

 private:
  // ---------------------------------------------------------------- words

  void fail(std::string_view what) {
    if (!fault_.empty()) return;
    const std::string_view before = whole_.substr(0, whole_.size() - left_.size());
    fault_ = fmt::format("line {}: {}", 1 + std::ranges::count(before, '\n'), what);
  }
  bool is_well() const { return fault_.empty(); }
  void skip_space() { left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size())); }
  bool accept(std::string_view text) {
    skip_space();
    const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (!left_.starts_with(text)) return false;
    if (is_word(text.back()) && left_.size() > text.size() && is_word(left_[text.size()])) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (is_well() && !accept(text)) fail(fmt::format("`{}` expected", text));
  }
  template <typename T>
  T number(int base = 10) {
    skip_space();
    T value{};
    if (!is_well()) return value;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value, base);
    if (error != std::errc{})
      fail("a number expected");
    else
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  double real() {
    skip_space();
    double value = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc{})
      fail("a number expected");
    else
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  std::string string() {
    expect("\"");
    std::string text;
    while (is_well()) {
      if (left_.empty()) {
        fail("a text that does not end");
        break;
      }
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '"') break;
      if (c != '\\') {
        text += c;
      } else if (left_.starts_with('x')) {
        left_.remove_prefix(1);
        text += escaped();
      } else if (!left_.empty()) {
        text += left_.front();
        left_.remove_prefix(1);
      }
    }
    return text;
  }
  char escaped() {
    unsigned value = 0;
    const std::size_t digits = std::min<std::size_t>(2, left_.size());
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + digits, value, 16);
    if (error != std::errc{} || end != left_.data() + 2) {
      fail("two digits expected");
      return ' ';
    }
    left_.remove_prefix(2);
    return static_cast<char>(value);
  }
  Place place() {
    Place place;
    expect("at");
    place.file = number<std::uint32_t>();
    expect(":");
    place.begin = number<std::uint32_t>();
    expect("-");
    place.end = number<std::uint32_t>();
    return place;
  }

  // ---------------------------------------------------------------- registers

  KernelRegister name() {
    expect("%");
    return number<KernelRegister>();
  }
  KernelType type() {
    for (const KernelType type :
         {KernelType::int32s, KernelType::float32s, KernelType::ints, KernelType::floats, KernelType::booleans,
          KernelType::int32, KernelType::float32, KernelType::int_, KernelType::float_, KernelType::boolean})
      if (accept(text_of(type))) return type;
    fail("a type expected");
    return KernelType::int_;
  }
  KernelRegister typed() {
    const KernelRegister id = name();
    expect(":");
    const KernelType read = type();
    if (!is_well()) return id;
    if (id > whole_.size()) fail("a register's number is too large");  // each takes more than a letter
    if (!is_well()) return id;
    if (id >= types_.size()) types_.resize(id + std::size_t{1});
    if (types_[id] && *types_[id] != read) fail("a register has two types");
    types_[id] = read;
    return id;
  }
  template <typename One>
  std::vector<KernelRegister> list(const One& one) {
    std::vector<KernelRegister> all;
    expect("(");
    if (accept(")")) return all;
    do all.push_back(one());
    while (is_well() && accept(","));
    expect(")");
    return all;
  }
  std::vector<KernelRegister> names() {
    return list([&] { return name(); });
  }
  std::vector<KernelRegister> typed_names() {
    return list([&] { return typed(); });
  }

  // ---------------------------------------------------------------- kernels

  NumberedKernel kernel() {
    kernel_ = {};
    types_.clear();
    expect("kernel");
    const auto id = number<KernelId>();
    kernel_.name = string();
    kernel_.place = place();
    const std::vector<KernelRegister> parameters = typed_names();
    kernel_.parameter_count = static_cast<std::uint32_t>(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] != i) fail("parameters are the first registers");
    if (accept("rows")) kernel_.row_count = number<std::uint32_t>();
    expect("->");
    kernel_.outputs = names();
    expect("{");
    while (is_well() && accept("const")) constant();
    static_cast<void>(block());
    for (const std::optional<KernelType> type : types_) {
      if (!type) fail("a register has no type");
      kernel_.types.push_back(type.value_or(KernelType::int_));
    }
    return {id, std::move(kernel_)};
  }
  void constant() {
    const KernelRegister id = typed();
    if (id != kernel_.parameter_count + kernel_.constants.size()) fail("constants follow the parameters");
    expect("=");
    if (!is_well()) return;
    kernel_.constants.push_back(bits(*types_[id]));
  }
  std::int64_t bits(KernelType type) {
    if (accept("true")) return 1;
    if (accept("false")) return 0;
    skip_space();
    if (type == KernelType::int_) return number<std::int64_t>();
    if (!left_.starts_with("0x")) return std::bit_cast<std::int64_t>(real());
    left_.remove_prefix(2);
    return static_cast<std::int64_t>(number<std::uint64_t>(16));
  }

  /// Up to and with its `}`.
  KernelBlockId block() {
    constexpr unsigned most_depth = 10'000;
    const auto id = static_cast<KernelBlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    if (++depth_ > most_depth) fail("too many blocks in each other");
    while (is_well() && !accept("}")) instruction(id);
    --depth_;
    return id;
  }

  KernelInstruction& put(KernelBlockId block, KernelOp op) {
    KernelInstruction& made = kernel_.blocks[block].emplace_back();
    made.op = op;
    return made;
  }

  void instruction(KernelBlockId block) {
    if (accept("if")) return branch(block);
    if (accept("loop")) return loop(block);
    if (accept("each")) return each(block);
    skip_space();
    if (left_.starts_with('(')) return call(block);
    KernelRegister result = no_kernel_part;
    if (left_.starts_with('%')) {
      result = typed();
      expect("=");
    }
    if (accept("foreign")) return foreign(block, result);
    if (accept("reduce")) return reduce(block, result);
    compute(block, result);
  }
  void branch(KernelBlockId block) {
    const auto index = static_cast<std::uint32_t>(kernel_.branches.size());
    kernel_.branches.emplace_back();
    KernelInstruction& made = put(block, KernelOp::if_);
    made.index = index;
    made.inputs[0] = name();
    made.place = place();
    expect("{");
    KernelBranch read;
    read.then_block = this->block();
    if (accept("else")) {
      expect("{");
      read.else_block = this->block();
    }
    kernel_.branches[index] = read;
  }
  void loop(KernelBlockId block) {
    const auto index = static_cast<std::uint32_t>(kernel_.loops.size());
    kernel_.loops.emplace_back();
    KernelInstruction& made = put(block, KernelOp::loop);
    made.index = index;
    KernelLoop read;
    read.variables = typed_names();
    expect("=");
    read.initial = names();
    made.place = place();
    expect("{");
    read.test_block = this->block();
    read.test_after = accept("until");
    if (!read.test_after) expect("while");
    read.condition = name();
    expect("{");
    read.body_block = this->block();
    expect("next");
    read.next = names();
    kernel_.loops[index] = std::move(read);
  }
  void each(KernelBlockId block) {
    const auto index = static_cast<std::uint32_t>(kernel_.eaches.size());
    kernel_.eaches.emplace_back();
    KernelInstruction& made = put(block, KernelOp::each);
    made.index = index;
    KernelEach read;
    read.point = typed();
    expect("of");
    read.count = name();
    made.place = place();
    expect("{");
    read.block = this->block();
    kernel_.eaches[index] = read;
  }
  void call(KernelBlockId block) {
    KernelCall read;
    read.results = typed_names();
    expect("=");
    expect("call");
    read.kernel = number<KernelId>();
    read.inputs = names();
    KernelInstruction& made = put(block, KernelOp::call);
    made.index = static_cast<std::uint32_t>(kernel_.calls.size());
    made.place = place();
    kernel_.calls.push_back(std::move(read));
  }
  void reduce(KernelBlockId block, KernelRegister result) {
    KernelReduction read;
    read.result = result;
    read.reducer = reducer();
    read.kernel = number<KernelId>();
    read.count = name();
    read.inputs = names();
    KernelInstruction& made = put(block, KernelOp::reduce);
    made.index = static_cast<std::uint32_t>(kernel_.reductions.size());
    made.place = place();
    kernel_.reductions.push_back(std::move(read));
  }
  KernelReducer reducer() {
    for (const KernelReducer each : kernel_reducers)
      if (accept(text_of(each))) return each;
    fail("what the numbers come to is expected");
    return KernelReducer::sum;
  }
  void foreign(KernelBlockId block, KernelRegister result) {
    KernelForeignCall read;
    read.result = result;
    read.library = string();
    read.symbol = string();
    if (!accept("-")) read.function = number<std::uint32_t>();
    read.inputs = names();
    KernelInstruction& made = put(block, KernelOp::foreign);
    made.index = static_cast<std::uint32_t>(kernel_.foreign_calls.size());
    made.place = place();
    kernel_.foreign_calls.push_back(std::move(read));
  }
  void compute(KernelBlockId block, KernelRegister result) {
    if (!is_well()) return;
    for (unsigned number = 0; number < static_cast<unsigned>(KernelOp::if_); ++number) {
      const auto op = static_cast<KernelOp>(number);
      if (!accept(info(op).text)) continue;
      KernelInstruction& made = put(block, op);
      made.result = result;
      for (std::size_t i = 0; i < info(op).inputs.size(); ++i) made.inputs[i] = name();
      made.place = place();
      return;
    }
    fail("an operation expected");
  }

  const std::string_view whole_;
  std::string_view left_;
  std::string fault_;
  Kernel kernel_;
  std::vector<std::optional<KernelType>> types_;  ///< by register
  unsigned depth_ = 0;
};

}  // namespace

std::expected<std::vector<NumberedKernel>, std::string> read_kernels(std::string_view text) {
  return KernelReader(text).run();
}

}  // namespace raddle::vm
