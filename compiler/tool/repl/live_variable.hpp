#pragma once
// A variable that an entry of an interactive session has declared, and that later entries see.
#include <memory>
#include <string>
#include <vector>

#include "compiler/source/source_buffer.hpp"
#include "vm/interpret/workspace.hpp"

namespace raddle::tool::repl {

struct Entry;

struct LiveVariable {
  std::string name;
  std::string type;         ///< as a script writes it
  Span declared;            ///< of the name
  std::string declaration;  ///< of a file that is mapped, or a dense array, not written yet: all of it; else ""
  std::vector<std::shared_ptr<LiveVariable>> read = {};  ///< variables that `declaration` names, as they were then
  std::unique_ptr<vm::Future> value = std::make_unique<vm::Future>();
  Entry* writer = nullptr;  ///< null: a later entry may assign it
  vm::Progress progress() const { return vm::progress_of(*value); }
  /// Nothing about it changes any more.
  bool is_settled() const {
    const vm::Progress now = progress();
    return now == vm::Progress::complete || now == vm::Progress::failed;
  }
};
using LiveVariables = std::vector<std::shared_ptr<LiveVariable>>;

}  // namespace raddle::tool::repl
