#include "compiler/codegen/shared_windows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace raddle::codegen {
namespace {

using vm::KernelInstruction;
using vm::KernelRegister;
using vm::no_kernel_part;

/// Seen from some element.
struct Where {
  std::int64_t row = 0, number = 0;
  auto operator<=>(const Where&) const = default;
  Where from(const Where& origin) const { return {row - origin.row, number - origin.number}; }
};

/// A number as something that is computed of elements from some place on. Two registers with one value are the same but
/// for the place.
struct Located {
  std::uint32_t value = 0;
  std::optional<Where> place;  ///< none: no element is read
  bool is_own = false;         ///< of the point: nobody shares it
};

class Sharer {
 public:
  /// @param row_follows  0: all rows are apart
  Sharer(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows, std::uint64_t row_follows)
      : kernel_(kernel), reads_(reads), follows_(follows), row_follows_(row_follows) {}

  std::optional<SharedWindows> run() {
    locate();
    find_shared();
    if (shared_.empty()) return std::nullopt;
    SharedWindows made;
    for (const auto& [value, copies] : shared_) made.parts.push_back(part_of(copies));
    make_rest(made);
    return made;
  }

 private:
  const std::vector<KernelInstruction>& body() const { return kernel_.blocks[0]; }
  bool is_read(KernelRegister id) const { return 0 < id && id <= reads_; }
  bool is_pure(const KernelInstruction& each) const {
    return !is_control(each.op) && vm::info(each.op).failure == vm::KernelFailure::nothing &&
           each.result != no_kernel_part && !is_array(kernel_.types[each.result]);
  }
  static std::vector<KernelRegister> inputs_of(const KernelInstruction& each) {
    std::vector<KernelRegister> inputs;
    for (const KernelRegister input : each.inputs)
      if (input != no_kernel_part) inputs.push_back(input);
    return inputs;
  }

  void locate() {
    located_.resize(kernel_.types.size());
    made_by_.assign(kernel_.types.size(), nullptr);
    Located line;  // the first read of those that follow each other
    for (KernelRegister id = 0; id < kernel_.parameter_count + kernel_.constants.size(); ++id) {
      Located& here = located_[id];
      if (is_read(id)) {
        const auto is_in = [&](std::uint64_t bits) { return id > 1 && id - 1 < 64 && (bits >> (id - 1) & 1) != 0; };
        if (is_in(follows_)) {
          here = located_[id - 1];
          ++here.place->number;
        } else {
          line = is_in(row_follows_) ? Located{line.value, Where{line.place->row + 1, 0}, false}
                                     : Located{next_value_++, Where{}, false};
          here = line;
        }
      } else {
        here = {next_value_++, std::nullopt, id == 0};
      }
    }
    for (const KernelInstruction& each : body()) {
      if (each.result == no_kernel_part) continue;
      made_by_[each.result] = &each;
      located_[each.result] = located(each);
    }
  }

  Located located(const KernelInstruction& each) {
    const std::vector<KernelRegister> inputs = inputs_of(each);
    const auto is_own = [&](KernelRegister input) { return located_[input].is_own; };
    if (!is_pure(each) || std::ranges::any_of(inputs, is_own)) return {next_value_++, std::nullopt, true};
    std::optional<Where> first;
    for (const KernelRegister input : inputs)
      if (const auto place = located_[input].place)
        first = first ? Where{std::min(first->row, place->row), std::min(first->number, place->number)} : *place;
    Key key{each.op, {}};
    for (const KernelRegister input : inputs) {
      const Located& of = located_[input];
      key.second.emplace_back(of.value, of.place ? of.place->from(*first) : Where{});
    }
    const auto [known, is_new] = values_.try_emplace(std::move(key), next_value_);
    if (is_new) ++next_value_;
    return {known->second, first, false};
  }

  /// Registers by value; only those of which there are several, and which are worth it.
  void find_shared() {
    std::map<std::uint32_t, std::vector<KernelRegister>> copies;
    for (const KernelInstruction& each : body())
      if (each.result != no_kernel_part && located_[each.result].place)
        copies[located_[each.result].value].push_back(each.result);
    std::erase_if(copies, [&](auto& all) { return !pays(all.second); });
    // what is used by other shared parts alone is part of them
    std::set<KernelRegister> used(kernel_.outputs.begin(), kernel_.outputs.end());
    for (const KernelInstruction& each : body())
      if (each.result == no_kernel_part || !copies.contains(located_[each.result].value))
        for (const KernelRegister input : inputs_of(each)) used.insert(input);
    std::erase_if(copies, [&](const auto& all) {
      return std::ranges::none_of(all.second, [&](KernelRegister id) { return used.contains(id); });
    });
    if (copies.size() <= most_parts) shared_ = std::move(copies);
  }

  /// Each of the others is read from memory then, and the first one written to it, which is as much as an operation.
  bool pays(const std::vector<KernelRegister>& copies) const {
    std::set<Where> all;
    std::set<std::int64_t> places;  // numbers of the row, or rows
    for (const KernelRegister id : copies) {
      all.insert(*located_[id].place);
      places.insert(shares_rows() ? located_[id].place->row : located_[id].place->number);
    }
    if (places.size() < 2) return false;
    if (shares_rows()) {  // all numbers between these are there
      const auto [least, greatest] = bounds(copies);
      for (const Where corner : {least, Where{least.row, greatest.number}, Where{greatest.row, least.number}, greatest})
        if (!all.contains(corner)) return false;
    }
    std::set<KernelRegister> parts;
    collect(copies[0], parts);
    const auto work =
        std::ranges::count_if(parts, [&](KernelRegister id) { return is_read(id) || made_by_[id] != nullptr; });
    return (static_cast<std::ptrdiff_t>(places.size()) - 1) * work >
           2 * (static_cast<std::ptrdiff_t>(places.size()) + 1);
  }

  bool shares_rows() const { return row_follows_ != 0; }
  /// The least row and number of some registers, and the greatest.
  std::pair<Where, Where> bounds(const std::vector<KernelRegister>& copies) const {
    Where least = *located_[copies[0]].place, greatest = least;
    for (const KernelRegister id : copies) {
      const Where place = *located_[id].place;
      least = {std::min(least.row, place.row), std::min(least.number, place.number)};
      greatest = {std::max(greatest.row, place.row), std::max(greatest.number, place.number)};
    }
    return {least, greatest};
  }

  /// A register and all that it is computed of.
  void collect(KernelRegister id, std::set<KernelRegister>& parts) const {
    if (!parts.insert(id).second || made_by_[id] == nullptr) return;
    for (const KernelRegister input : inputs_of(*made_by_[id])) collect(input, parts);
  }

  SharedWindows::Part part_of(const std::vector<KernelRegister>& copies) const {
    const auto place = [&](KernelRegister id) { return *located_[id].place; };
    const KernelRegister first = *std::ranges::min_element(copies, {}, place);
    const auto [least, greatest] = bounds(copies);
    const Where extent = greatest.from(least);
    std::set<KernelRegister> parts;
    collect(first, parts);
    SharedWindows::Part part;
    part.reach = static_cast<std::uint32_t>(extent.number);
    part.rows = static_cast<std::uint32_t>(extent.row);
    KernelCopy copy(kernel_, kernel_.name + ".shared", false);
    copy.add_parameter(0);
    for (KernelRegister id = 1; id <= reads_; ++id) {
      if (!parts.contains(id)) continue;
      part.reads.push_back(id - 1);
      copy.add_parameter(id);
    }
    for (KernelRegister id = reads_ + 1; id < kernel_.parameter_count; ++id) copy.add_parameter(id);
    const std::array outputs = {first};
    copy.add_body(body(), outputs);
    part.kernel = copy.take();
    return part;
  }

  void make_rest(SharedWindows& made) const {
    KernelCopy copy(kernel_, kernel_.name + ".rest", true);
    copy.add_parameter(0);
    std::uint32_t number = 0;
    for (const auto& [value, copies] : shared_) {
      std::map<Where, KernelRegister> by_place;
      for (const KernelRegister id : copies) by_place.try_emplace(*located_[id].place, id);
      const Where least = bounds(copies).first;
      for (const auto& [place, id] : by_place) {
        const Where at = place.from(least);
        copy.add_parameter(id);
        made.inputs.push_back({number, static_cast<std::uint32_t>(at.number), static_cast<std::uint32_t>(at.row)});
      }
      for (const KernelRegister id : copies)
        if (const KernelRegister known = by_place.at(*located_[id].place); known != id) copy.use(id, known);
      ++number;
    }
    const std::set<KernelRegister> needed = copy.needed(body(), kernel_.outputs);
    for (KernelRegister id = 1; id <= reads_; ++id) {
      if (!needed.contains(id)) continue;
      copy.add_parameter(id);
      made.inputs.push_back({std::nullopt, id - 1});
    }
    for (KernelRegister id = reads_ + 1; id < kernel_.parameter_count; ++id) copy.add_parameter(id);
    copy.add_body(body(), kernel_.outputs);
    made.rest = copy.take();
  }

  /// A kernel of some instructions of another one.
  class KernelCopy {
   public:
    /// @param keeps_failures  what may fail is in it, too, whether its result is used or not
    KernelCopy(const vm::Kernel& source, std::string name, bool keeps_failures)
        : source_(source), keeps_failures_(keeps_failures) {
      made_.name = std::move(name);
      made_.place = source.place;
    }
    /// What is in a register of the source is a parameter.
    void add_parameter(KernelRegister id) {
      at_[id] = static_cast<KernelRegister>(made_.types.size());
      made_.types.push_back(source_.types[id]);
      ++made_.parameter_count;
    }
    /// It is what is in another register, which is a parameter.
    void use(KernelRegister id, KernelRegister other) { at_[id] = at_.at(other); }
    /// What outputs are computed of, but for what is known.
    std::set<KernelRegister> needed(std::span<const KernelInstruction> body,
                                    std::span<const KernelRegister> outputs) const {
      std::set<KernelRegister> needed;
      const auto add = [&](KernelRegister id) {
        if (!at_.contains(id)) needed.insert(id);
      };
      for (const KernelRegister output : outputs) add(output);
      for (std::size_t i = body.size(); i-- > 0;) {
        if (!is_kept(body[i]) && !needed.contains(body[i].result)) continue;
        for (const KernelRegister input : inputs_of(body[i])) add(input);
      }
      return needed;
    }
    void add_body(std::span<const KernelInstruction> body, std::span<const KernelRegister> outputs) {
      const std::set<KernelRegister> all = needed(body, outputs);
      for (const KernelRegister id : all) {
        if (!source_.is_constant(id)) continue;
        at_[id] = static_cast<KernelRegister>(made_.types.size());
        made_.types.push_back(source_.types[id]);
        made_.constants.push_back(source_.constant(id));
      }
      made_.blocks.emplace_back();
      for (KernelInstruction each : body) {
        if (!is_kept(each) && !all.contains(each.result)) continue;
        for (KernelRegister& input : each.inputs)
          if (input != no_kernel_part) input = at_.at(input);
        if (each.result != no_kernel_part) {
          at_[each.result] = static_cast<KernelRegister>(made_.types.size());
          made_.types.push_back(source_.types[each.result]);
          each.result = at_.at(each.result);
        }
        made_.blocks[0].push_back(each);
      }
      for (const KernelRegister output : outputs) made_.outputs.push_back(at_.at(output));
    }
    vm::Kernel take() { return std::move(made_); }

   private:
    bool is_kept(const KernelInstruction& each) const {
      return keeps_failures_ && vm::info(each.op).failure != vm::KernelFailure::nothing;
    }

    const vm::Kernel& source_;
    const bool keeps_failures_;
    vm::Kernel made_;
    std::map<KernelRegister, KernelRegister> at_;
  };

  using Key = std::pair<vm::KernelOp, std::vector<std::pair<std::uint32_t, Where>>>;
  static constexpr std::size_t most_parts = 8;  ///< each has numbers of its own on the stack

  const vm::Kernel& kernel_;
  const std::uint32_t reads_;
  const std::uint64_t follows_, row_follows_;
  std::uint32_t next_value_ = 0;
  std::vector<Located> located_;                   ///< by register
  std::vector<const KernelInstruction*> made_by_;  ///< likewise; null: a parameter or constant
  std::map<Key, std::uint32_t> values_;
  std::map<std::uint32_t, std::vector<KernelRegister>> shared_;  ///< by value
};

}  // namespace

namespace {

bool can_share(const vm::Kernel& kernel) {
  return kernel.blocks.size() == 1 && kernel.row_count == 0 &&
         std::ranges::none_of(kernel.blocks[0], [](const auto& each) { return is_control(each.op); });
}

}  // namespace

std::optional<SharedWindows> share_windows(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows) {
  if (follows == 0 || !can_share(kernel)) return std::nullopt;
  return Sharer(kernel, reads, follows, 0).run();
}

std::optional<SharedWindows> share_rows(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows,
                                        std::uint64_t row_follows) {
  if (row_follows == 0 || !can_share(kernel)) return std::nullopt;
  return Sharer(kernel, reads, follows, row_follows).run();
}

std::uint64_t following_inputs(const SharedWindows& windows, std::uint64_t follows) {
  std::uint64_t all = 0;
  for (std::size_t i = 1; i < std::min<std::size_t>(windows.inputs.size(), 64); ++i) {
    const SharedWindows::Input &one = windows.inputs[i - 1], &other = windows.inputs[i];
    const bool is_behind = one.part == other.part && one.row == other.row && one.number + 1 == other.number;
    const bool follows_there = other.part || (other.number < 64 && (follows >> other.number & 1) != 0);
    if (is_behind && follows_there) all |= std::uint64_t{1} << i;
  }
  return all;
}

}  // namespace raddle::codegen
