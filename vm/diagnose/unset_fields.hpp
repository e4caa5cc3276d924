#pragma once
// The fields without a value of the structures that a run's variables hold.
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "vm/diagnose/live_variables.hpp"

namespace raddle::vm {

class Array;
class Structure;

struct UnsetField {
  const VariableInfo* variable = nullptr;  ///< of those that hold the structure, the first declared that has a name
  std::string name;                        ///< "p.x"; in an element of an array: "a[3].x"
  bool is_in_element = false;
  std::vector<Holder> holders;  ///< all variables that lead to it
};

/// @pre no worker runs
class UnsetFields {
 public:
  explicit UnsetFields(const LiveVariables& variables) : variables_(variables) {}
  /// What the variables of `frame` hold.
  void add(Frame& frame);
  /// Null if the future is no field of a structure that a variable holds.
  const UnsetField* find(const Future& future) const;

 private:
  /// From a variable to a structure in it.
  struct Path {
    const VariableInfo& variable;
    Holder holder;
    std::string name;
  };
  void add(Future& future, const Path& path);
  void add(Structure& structure, const Path& path);
  void add(Array& array, const Path& path);

  const LiveVariables& variables_;
  std::set<std::tuple<std::uint64_t, BodyId, std::uint32_t>> looked_at_;  ///< structures and arrays, and in which slots
  std::unordered_map<const Future*, UnsetField> fields_;
};

}  // namespace raddle::vm
