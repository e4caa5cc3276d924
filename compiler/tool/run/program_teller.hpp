#pragma once
// `raddle run --verbose`: external programs as they start and end, on standard error.
#include <atomic>

#include "vm/interpret/task_listener.hpp"

namespace raddle::tool {

/// `+ ./model 3 > out.txt`, then `- ./model 3 > out.txt  # exit code 0, 0.31 s`: what follows the sign can be typed.
class ProgramTeller final : public vm::TaskListener {
 public:
  /// @param next  hears all of it, too; may be null
  explicit ProgramTeller(vm::TaskListener* next) : next_(next) {}
  std::uint64_t begun(const std::vector<std::string>& inputs, const std::vector<std::string>& words,
                      bool is_first) override;
  void reads(const vm::NamedFile& file) override;
  void started(const vm::ProcessRequest& request) override;
  void ended(const vm::EndedProgram& program) override;
  void ended(const vm::EndedMemoCall& call) override;

 private:
  vm::TaskListener* const next_;
  std::atomic<std::uint64_t> begun_{0};  // by any worker; counts only, where nobody else does
};

}  // namespace raddle::tool
