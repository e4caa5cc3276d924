#include "compiler/ir/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "compiler/ir/verify_launches.hpp"
#include "compiler/ir/verify_types.hpp"
#include "compiler/ir/writers.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::ir {
namespace {

class Verifier {
 public:
  Verifier(const Module& module, const Function& function, std::vector<std::string>& problems)
      : module_(module), function_(function), problems_(problems), declared_(function.variables.size(), false) {}

  void run() {
    if (function_.regions.empty()) return report("", "no body");
    op_text_ = "declarations";
    declare(function_.parameters, 0);
    declare(function_.outputs, 0);
    assigned_elsewhere_.insert(function_.parameters.begin(), function_.parameters.end());
    for (RegionId id = 0; id < function_.regions.size(); ++id) {
      declare(function_.regions[id].parameters, id);
      declare(function_.regions[id].variables, id);
      assigned_elsewhere_.insert(function_.regions[id].parameters.begin(), function_.regions[id].parameters.end());
    }
    reached_.assign(function_.regions.size(), false);
    launches_taken_.assign(function_.launches.size(), false);
    kernels_taken_.assign(function_.kernels.size(), false);
    nests_taken_.assign(function_.nests.size(), false);
    region(0);
    for (const Operand word : function_.command.words) use(word, 0);
    const Command& command = function_.command;
    for (const Operand file : {command.stdin_file, command.stdout_file, command.stderr_file})
      if (file.index != none) use(file, 0);
    for (std::size_t i = 0; i < app_limits.size(); ++i) limit(i);
    if (std::ranges::count(launches_taken_, false) + std::ranges::count(nests_taken_, false) != 0)
      report("", "an index launch that is no operation's");
    if (std::ranges::count(kernels_taken_, false) != 0) report("", "a kernel that is no loop's");
    if (problems_.empty()) writers();
  }

 private:
  void report(const std::string& op, const std::string& text) {
    problems_.push_back(fmt::format("@{}: {}{}{}", function_.name, op, op.empty() ? "" : ": ", text));
  }
  void report(const std::string& text) { report(op_text_, text); }

  void limit(std::size_t which) {
    const Operand operand = function_.command.limits[which];
    if (operand.index == none || !use(operand, 0)) return;
    if (module_.types->base(type_of(module_, function_, operand)) != app_limits[which].type)
      report(fmt::format("{} has the wrong type", app_limits[which].name));
  }

  std::string name(VarId id) const {
    const std::string& own = function_.variables[id].name;
    return own.empty() ? fmt::format("variable {}", id) : own;
  }

  void declare(const std::vector<VarId>& ids, RegionId region) {
    for (const VarId id : ids) {
      if (id >= function_.variables.size()) {
        report("a variable that is not there");
      } else if (declared_[id]) {
        report(fmt::format("{} is declared twice", name(id)));
      } else if (function_.variables[id].region != region) {
        report(fmt::format("{} has the wrong region", name(id)));
      } else {
        declared_[id] = true;
      }
    }
  }

  bool is_visible(VarId id, RegionId from) const {
    for (RegionId at = from; at != none; at = function_.regions[at].parent)
      if (function_.variables[id].region == at) return true;
    return false;
  }

  bool use(Operand operand, RegionId from) {
    if (operand.is_constant) {
      if (operand.index < module_.constants.size()) return true;
      report("a constant that is not there");
      return false;
    }
    if (operand.index >= function_.variables.size() || !declared_[operand.index]) {
      report("an operand that is declared nowhere");
      return false;
    }
    if (is_visible(operand.index, from)) return true;
    report(fmt::format("{} is not visible", name(operand.index)));
    return false;
  }

  void region(RegionId id) {
    if (reached_[id]) return report(fmt::format("region {} belongs to two operations", id));
    reached_[id] = true;
    std::unordered_set<VarId> assigned;
    for (const Op& op : function_.regions[id].ops) {
      op_text_ = info(op.kind).text;
      operation(op, id, assigned);
    }
  }

  void operation(const Op& op, RegionId at, std::unordered_set<VarId>& assigned) {
    bool good = true;
    for (const Operand operand : op.operands) good = use(operand, at) && good;
    if (op.priority.index != none) good = use(op.priority, at) && good;
    if (op.rank.index != none) good = use(op.rank, at) && good;
    for (const VarId result : op.results) {
      good = use(Operand::variable(result), at) && good;
      if (!assigned.insert(result).second) report(fmt::format("{} is assigned twice", name(result)));
      if (assigned_elsewhere_.contains(result)) report(fmt::format("{} is a parameter", name(result)));
    }
    if (op.kind == OpKind::call_builtin && op.callee >= stdlib::builtins().size()) {
      report("a library function that is not there");
      good = false;
    }
    if (!good || !nested(op, at)) return;
    if (const std::string problem = check_types(module_, function_, op); !problem.empty()) return report(problem);
    if (op.launch == none && op.nest == none && op.kernel == none) return;
    if (op.kernel != none ? !has_kernel(op, at) : !has_launch(op, at)) return;
    if (const std::string problem = check_launch(module_, function_, op); !problem.empty()) report(problem);
  }

  /// The entry is there, if one is named, and no other operation's.
  static bool take(std::uint32_t id, std::vector<bool>& taken) {
    const bool is_there = id == none || (id < taken.size() && !taken[id]);
    if (is_there && id != none) taken[id] = true;
    return is_there;
  }

  bool has_kernel(const Op& op, RegionId at) {
    if (op.kind != OpKind::loop || op.launch != none || op.nest != none || !take(op.kernel, kernels_taken_)) {
      report("a kernel that is not there, or not this operation's");
      return false;
    }
    bool good = true;
    const LoopKernel& kernel = function_.kernels[op.kernel];
    for (const Operand capture : kernel.captures) good = use(capture, at) && good;
    for (const LoopSink& sink : kernel.sinks) good = use(sink.array, at) && good;
    return good;
  }

  /// The entries that the operation names are there, its alone, and see what they name.
  bool has_launch(const Op& op, RegionId at) {
    const bool is_foreach = op.kind == OpKind::foreach_range || (op.kind == OpKind::foreach_array && op.nest == none);
    if (!is_foreach || !take(op.launch, launches_taken_) || !take(op.nest, nests_taken_)) {
      report("an index launch that is not there, or not this operation's");
      return false;
    }
    bool good = true;
    const auto use_all = [&](const std::vector<Operand>& operands) {
      for (const Operand operand : operands) good = use(operand, at) && good;
    };
    if (op.launch != none) {
      const IndexLaunch& launch = function_.launches[op.launch];
      use_all(launch.captures);
      use_all(launch.projected);
      for (const Access& access : launch.accesses) {
        good = use(access.data, at) && good;
        for (const Key& key : access.keys)
          if (key.has_operand()) good = use(key.operand, at) && good;
      }
    }
    if (op.nest != none) {
      const LaunchNest& nest = function_.nests[op.nest];
      use_all(nest.captures);
      for (const VarId value : nest.values) good = use(Operand::variable(value), op.regions[0]) && good;
      if (nest.launch >= function_.launches.size()) report("an index launch that is not there"), good = false;
    }
    return good;
  }

  bool region_count_fits(const Op& op) const {
    const std::size_t count = op.regions.size();
    if (op.kind == OpKind::if_) return count == 1 || count == 2;
    if (op.kind == OpKind::loop) return count == 2;
    if (op.kind == OpKind::switch_) return count == op.labels.size() || count == op.labels.size() + 1;
    const bool has_body = op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array ||
                          op.kind == OpKind::wait || op.kind == OpKind::wait_deep || op.kind == OpKind::memo ||
                          op.kind == OpKind::attempt;
    return count == (has_body ? 1 : 0);
  }

  bool nested(const Op& op, RegionId at) {
    if (!region_count_fits(op)) {
      report("wrong number of regions");
      return false;
    }
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const RegionId id = op.regions[i];
      const RegionId parent = op.kind == OpKind::loop && i == 1 ? op.regions[0] : at;
      if (id >= function_.regions.size() || function_.regions[id].parent != parent) {
        report("a region with the wrong parent");
        return false;
      }
    }
    for (const RegionId id : op.regions) {
      const std::string outer = op_text_;
      region(id);
      op_text_ = outer;
    }
    if (op.kind != OpKind::loop) return true;
    bool good = use(op.condition, op.regions[op.test_after ? 1 : 0]);
    for (const Operand next : op.nexts) good = use(next, op.regions[1]) && good;
    return good;
  }

  void writers() {
    Function counted = function_;
    if (count_writers(counted)) report("array_new", "the number of writers is wrong");
  }

  const Module& module_;
  const Function& function_;
  std::vector<std::string>& problems_;
  std::vector<bool> declared_;
  std::vector<bool> reached_;
  std::vector<bool> launches_taken_, nests_taken_, kernels_taken_;  ///< some operation names this entry
  std::unordered_set<VarId> assigned_elsewhere_;                    ///< parameters
  std::string op_text_;
};

}  // namespace

namespace {

/// How a launched leaf is called depends on the launch.
void each_is_launched_once(const Module& module, std::vector<std::string>& problems) {
  std::vector<std::uint32_t> launches(module.functions.size(), 0);
  const auto count = [&](FunctionId id) {
    if (id != none) ++launches[id];
  };
  for (const Function& function : module.functions) {
    for (const IndexLaunch& launch : function.launches) {
      count(launch.kernel);
      count(launch.projection);
    }
    for (const LaunchNest& nest : function.nests) count(nest.prelude);
    for (const LoopKernel& kernel : function.kernels) count(kernel.kernel);
  }
  for (FunctionId id = 0; id < launches.size(); ++id)
    if ((module.functions[id].kind == FunctionKind::launched) != (launches[id] == 1))
      problems.push_back(fmt::format("@{}: it is launched {} times", module.functions[id].name, launches[id]));
}

/// The text of the IR, messages and compiled kernels tell functions by their names.
void names_are_unique(const Module& module, std::vector<std::string>& problems) {
  std::unordered_set<std::string_view> names;
  for (const Function& function : module.functions)
    if (!names.insert(function.name).second) problems.push_back(fmt::format("@{}: it is there twice", function.name));
}

}  // namespace

std::vector<std::string> verify(const Module& module) {
  std::vector<std::string> problems;
  if (module.entry >= module.functions.size()) problems.push_back("no entry function");
  for (const Function& function : module.functions) Verifier(module, function, problems).run();
  names_are_unique(module, problems);
  if (problems.empty()) each_is_launched_once(module, problems);
  return problems;
}

}  // namespace raddle::ir
