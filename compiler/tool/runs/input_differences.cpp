#include "compiler/tool/runs/input_differences.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/space/values.hpp"
#include "vm/record/named_files.hpp"
#include "vm/value/hash.hpp"

namespace raddle::tool {

namespace {

/// Of the values, whatever their order.
vm::Hash128 hash_of(NamedValues values) {
  std::ranges::sort(values);
  std::string text;
  for (const auto& [name, value] : values) {
    (text += name) += '\0';
    (text += sweep::canonical_text(value)) += '\0';
  }
  return vm::hash(text);
}

struct LowHalf {
  std::size_t operator()(const vm::Hash128& hash) const { return hash.low; }
};
struct AreEqual {
  bool operator()(const vm::Hash128& one, const vm::Hash128& other) const {
    return one.low == other.low && one.high == other.high;
  }
};

}  // namespace

PointFiles files_of_point(const std::string& inputs) {
  PointFiles files;
  for (auto& [path, version] : sweep::json_members(inputs))
    (vm::named_as(path, version).is_output ? files.written : files.read).emplace_back(path, version);
  return files;
}

std::vector<InputDifference> input_differences(const RunTable& before, const RunTable& after) {
  std::set<std::string> texts;  // most points have read the same files
  std::unordered_map<vm::Hash128, const std::string*, LowHalf, AreEqual> known;
  before.for_each_inputs([&](NamedValues parameters, const std::string& inputs) {
    known[hash_of(std::move(parameters))] = &*texts.insert(inputs).first;
  });
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;  // file, before, now
  after.for_each_inputs([&](NamedValues parameters, const std::string& inputs) {
    const auto found = known.find(hash_of(std::move(parameters)));
    if (found == known.end() || *found->second == inputs) return;
    for (const ValueDifference& each : differences_of(files_of_point(inputs).read, files_of_point(*found->second).read))
      ++counts[{each.name, each.before.value_or(""), each.now.value_or("")}];
  });
  const auto content = [](const std::string& version) {
    return version.empty() ? std::nullopt : std::optional(version);
  };
  std::vector<InputDifference> differences;
  for (const auto& [file, points] : counts) {
    const auto& [path, old_version, version] = file;
    differences.push_back({{.name = path, .now = content(version), .before = content(old_version)}, points});
  }
  return differences;
}

}  // namespace raddle::tool
