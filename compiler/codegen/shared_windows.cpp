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

/// A number as something that is computed of elements from some place on. Two registers with one value are the same but
/// for the place.
struct Located {
  std::uint32_t value = 0;
  std::optional<std::int64_t> place;  ///< none: no element is read
  bool is_own = false;                ///< of the point: nobody shares it
};

class Sharer {
 public:
  Sharer(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows)
      : kernel_(kernel), reads_(reads), follows_(follows) {}

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
    std::uint32_t row = 0;
    for (KernelRegister id = 0; id < kernel_.parameter_count + kernel_.constants.size(); ++id) {
      Located& here = located_[id];
      if (is_read(id)) {
        const bool is_next = id > 1 && id - 1 < 64 && (follows_ >> (id - 1) & 1) != 0;
        if (!is_next) row = next_value_++;
        here = {row, is_next ? *located_[id - 1].place + 1 : 0, false};
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
    std::optional<std::int64_t> first;
    for (const KernelRegister input : inputs)
      if (const auto place = located_[input].place) first = std::min(first.value_or(*place), *place);
    Key key{each.op, {}};
    for (const KernelRegister input : inputs) {
      const Located& of = located_[input];
      key.second.emplace_back(of.value, of.place ? *of.place - *first : 0);
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
    std::set<std::int64_t> places;
    for (const KernelRegister id : copies) places.insert(*located_[id].place);
    if (places.size() < 2) return false;
    std::set<KernelRegister> parts;
    collect(copies[0], parts);
    const auto work =
        std::ranges::count_if(parts, [&](KernelRegister id) { return is_read(id) || made_by_[id] != nullptr; });
    return (static_cast<std::ptrdiff_t>(places.size()) - 1) * work >
           2 * (static_cast<std::ptrdiff_t>(places.size()) + 1);
  }

  /// A register and all that it is computed of.
  void collect(KernelRegister id, std::set<KernelRegister>& parts) const {
    if (!parts.insert(id).second || made_by_[id] == nullptr) return;
    for (const KernelRegister input : inputs_of(*made_by_[id])) collect(input, parts);
  }

  SharedWindows::Part part_of(const std::vector<KernelRegister>& copies) const {
    const auto place = [&](KernelRegister id) { return *located_[id].place; };
    const KernelRegister first = *std::ranges::min_element(copies, {}, place);
    const KernelRegister last = *std::ranges::max_element(copies, {}, place);
    std::set<KernelRegister> parts;
    collect(first, parts);
    SharedWindows::Part part;
    part.reach = static_cast<std::uint32_t>(place(last) - place(first));
    KernelCopy copy(kernel_, kernel_.name + ".shared");
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
    KernelCopy copy(kernel_, kernel_.name + ".rest");
    copy.add_parameter(0);
    std::uint32_t number = 0;
    for (const auto& [value, copies] : shared_) {
      std::map<std::int64_t, KernelRegister> by_place;
      for (const KernelRegister id : copies) {
        const std::int64_t place = *located_[id].place;
        const auto [known, is_new] = by_place.try_emplace(place, id);
        if (is_new)
          copy.add_parameter(id);
        else
          copy.use(id, known->second);
      }
      for (const KernelRegister id : copies) {
        const std::int64_t place = *located_[id].place;
        if (by_place.at(place) == id)
          made.inputs.push_back({number, static_cast<std::uint32_t>(place - by_place.begin()->first)});
      }
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
    KernelCopy(const vm::Kernel& source, std::string name) : source_(source) {
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
        const bool can_fail = vm::info(body[i].op).failure != vm::KernelFailure::nothing;
        if (!can_fail && !needed.contains(body[i].result)) continue;
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
        const bool can_fail = vm::info(each.op).failure != vm::KernelFailure::nothing;
        if (!can_fail && !all.contains(each.result)) continue;
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
    const vm::Kernel& source_;
    vm::Kernel made_;
    std::map<KernelRegister, KernelRegister> at_;
  };

  using Key = std::pair<vm::KernelOp, std::vector<std::pair<std::uint32_t, std::int64_t>>>;
  static constexpr std::size_t most_parts = 8;  ///< each has numbers of its own on the stack

  const vm::Kernel& kernel_;
  const std::uint32_t reads_;
  const std::uint64_t follows_;
  std::uint32_t next_value_ = 0;
  std::vector<Located> located_;                   ///< by register
  std::vector<const KernelInstruction*> made_by_;  ///< likewise; null: a parameter or constant
  std::map<Key, std::uint32_t> values_;
  std::map<std::uint32_t, std::vector<KernelRegister>> shared_;  ///< by value
};

}  // namespace

std::optional<SharedWindows> share_windows(const vm::Kernel& kernel, std::uint32_t reads, std::uint64_t follows) {
  const bool has_one_block = kernel.blocks.size() == 1 && std::ranges::none_of(kernel.blocks[0], [](const auto& each) {
                               return is_control(each.op);
                             });
  if (follows == 0 || !has_one_block || kernel.row_count != 0) return std::nullopt;
  return Sharer(kernel, reads, follows).run();
}

}  // namespace raddle::codegen
