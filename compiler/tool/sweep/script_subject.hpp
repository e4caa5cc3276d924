#pragma once
// A script as the subject of a sweep: its parameters are the space's, its results are columns of the table.
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tool/executable/executable.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/sweep/where.hpp"
#include "compiler/tool/sweep/results.hpp"
#include "compiler/tool/space/space.hpp"
#include "vm/interpret/run.hpp"
#include "vm/program/program.hpp"
#include "vm/record/call_record.hpp"

namespace raddle::tool {

/// Compiled once, run many times, by several threads at once.
class ScriptSubject {
 public:
  /// @return  or an exit code, all said: the script has errors, or the space does not fit it
  static std::expected<std::unique_ptr<ScriptSubject>, int> make(const std::string& path, const Options& options,
                                                                 const sweep::Space& space,
                                                                 const sweep::SpaceOptions& words);

  /// Says what there is to say of a script without errors, once: before it is run, not where only its record is read.
  void tell_warnings() { static_cast<void>(session_.print_diagnostics()); }
  /// The words of a command that does the same at a point: `raddle run script.df --a={a}`.
  std::vector<std::string> command() const;
  /// What is done at each point, for its key: the texts of the script, of what it imports, of macros; shared
  /// libraries that it names, and what is in them now.
  std::vector<std::string> work() const;
  /// What the script reads each of the space's parameters as.
  std::vector<sweep::ValueType> read_as(const sweep::Space& space) const;
  /// Parameters of the script that the space leaves at their defaults.
  std::vector<FixedParameter> fixed_parameters() const;
  /// It draws random numbers.
  bool uses_seed() const { return uses_seed_; }
  /// Has the results of `@result`.
  bool has_results() const { return !checked().results.empty(); }
  /// It only computes numbers: points may be run many at a time.
  bool runs_in_blocks() const { return block_program_.has_value(); }
  /// Why it does not; empty where it does.
  std::string why_not_in_blocks() const { return why_not_in_blocks_; }
  /// What blocks have; none if there are none.
  std::vector<sweep::ResultColumn> columns() const;

  // ---- for the runner
  const Options& options() const { return session_.options; }
  const std::string& path() const { return path_; }
  const SourceMap& sources() const { return session_.sources; }
  const CheckedProgram& checked() const { return executable_->checked(); }
  const vm::Program& program() const { return executable_->program(); }
  /// Its entry has for parameters the number of points, then for each of the script's parameters an array or a value.
  const vm::Program& block_program() const { return *block_program_; }
  vm::KernelCompiler* kernel_compiler() { return executable_->kernel_compiler(); }
  vm::AppKernelCompiler* app_kernel_compiler() { return executable_->app_kernel_compiler(); }
  /// Of `@memo` functions, for all points.
  vm::CallRecord& call_record() { return *call_record_; }
  /// The parameter of the space that a parameter of the script takes its values from; none: it has its default.
  std::optional<std::size_t> source_of(std::size_t parameter) const { return sources_of_[parameter]; }
  TypeId type_of(std::size_t parameter) const;
  const std::string& result_name(std::size_t result) const;
  std::vector<std::string> result_names() const;
  /// Of parameters and results that are strings.
  std::vector<std::string> names_of_strings() const;

 private:
  explicit ScriptSubject(std::string path) : path_(std::move(path)) {}
  int compile(const sweep::Space& space, const sweep::SpaceOptions& words);
  std::optional<sweep::OptionError> match(const CheckedProgram& program, const sweep::Space& space,
                                          const sweep::SpaceOptions& words);

  std::string path_;
  Session session_;
  std::optional<Executable> executable_;
  std::optional<vm::Program> block_program_;
  std::optional<vm::CallRecord> call_record_;
  std::vector<std::optional<std::size_t>> sources_of_;
  std::string why_not_in_blocks_;
  bool uses_seed_ = false;
};

}  // namespace raddle::tool
