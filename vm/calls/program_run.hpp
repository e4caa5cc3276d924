#pragma once
// An external program that runs for an app function.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vm/calls/own_outputs.hpp"
#include "vm/external/processes.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/record/file_claim.hpp"
#include "vm/value/file_identity.hpp"

namespace raddle::vm {

class TaskListener;

/// Lasts from the first attempt to the end of the last one. Owns a reference to the app's frame. The event loop's
/// thread fills `result`, then injects it (publishing the result).
class ProgramRun final : public Cell {
 public:
  ProgramRun(Frame& frame, const AppSite& site, std::uint32_t instruction)
      : frame(frame), site(site), instruction(instruction) {}
  /// Its outputs may be written, or it has ended.
  void run(Worker& worker) override;
  /// Takes the claims on outputs that it writes in their places, or on the others, which are put there when it has
  /// ended. @return false: another run has one; none is taken then
  bool claim_outputs(bool are_in_place);
  /// The request as it is to be started: outputs have the names under which they are written aside.
  ProcessRequest request_aside() const;
  /// The last attempt has ended: if well, its outputs are put in their places. @return what has gone wrong; "": nothing
  std::string conclude();
  /// An attempt has ended. @param fault  "": it has succeeded   @param is_last  there is no other one
  /// @param is_interrupted  it ran when the run ended
  void tell(TaskListener& listener, const std::string& fault, bool is_last, bool is_interrupted = false) const;

  Frame& frame;
  const AppSite& site;
  const std::uint32_t instruction;
  ProcessRequest request;                 ///< files have the names that the script gives them
  std::vector<std::size_t> output_words;  ///< which of request.words are outputs
  OwnOutputs own;
  std::vector<Operand> outputs;                           ///< files that the program is to make
  std::vector<std::string> output_paths;                  ///< of `outputs`
  std::vector<std::optional<FileIdentity>> before;        ///< what lay there when it was started; none: no file
  std::vector<std::string> input_paths, temporary_paths;  ///< for the run's listener; none if there is none
  std::vector<std::string> begun;                         ///< from WrittenFiles::begin
  std::map<std::string, FileClaim> claims;                ///< on outputs, by place
  bool waits_for_others = false;                          ///< till they do not write these any more, to start
  std::int64_t attempts = 1;                              ///< at most
  std::vector<int> ok_codes;
  std::int64_t attempt = 1;
  std::uint64_t number = 0;  ///< that the listener gave it
  ProcessResult result;      ///< of the last attempt; without a slot until that has ended

 private:
  std::string fault() const;
  std::string missing_output() const;
};

}  // namespace raddle::vm
