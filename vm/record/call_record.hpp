#pragma once
// Results of calls of `@memo` functions, kept across runs: the file `.raddle/memo.db` in the folder where the command
// was typed, and contents of files beside it. All of it can be made again: what can not be read, or is of another
// version, counts as not there.
//
// An entry is written in one transaction by a thread of its own, as soon as that has written the one before. Other
// processes may do the same: what two of them have computed at the same time is equal.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "vm/record/database.hpp"
#include "vm/record/kept_files.hpp"
#include "vm/record/named_files.hpp"
#include "vm/record/point_key.hpp"

namespace raddle::vm {

inline constexpr const char* call_record_path = ".raddle/memo.db";

/// A call: which function, and all that its results depend on.
struct RecordedCall {
  PointKey key;          ///< of all that follows
  std::string function;  ///< its name in the script
  std::string code;      ///< a line `NAME HASH` for each function that it may call, itself first
  std::string inputs;    ///< a line `NAME<tab>VALUE` each; long values by their hash
};

/// A file, or pattern of paths, and what it was.
struct ReadFile {
  std::string name, version;  ///< version_of()
};

/// What came of a call.
struct KeptCall {
  RecordedCall call;
  std::string results;                ///< as vm/calls/kept_value.hpp writes them
  std::vector<ReadFile> reads = {};   ///< that programs in it, and the script, have read by name
  std::vector<std::string> contents;  ///< of files: names in KeptFiles
  double duration_s = 0;
};

struct KeptFunction {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  ///< contents of files included
  double used = 0;          ///< when a result was last made or taken, within an hour; seconds since 1970
};

/// What gc() leaves.
struct CallLimits {
  std::optional<double> age_s;         ///< entries not used for longer go
  std::optional<std::uint64_t> bytes;  ///< then those not used for longest, until no more is left
};

class CallRecord {
 public:
  /// Nothing is made on disk before something is kept.
  /// @param version      of all that may change what a function computes, besides its code
  /// @param takes_old    false: results of earlier runs are not looked at
  explicit CallRecord(std::string version, bool takes_old = true);
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;
  /// Writes what is left.
  ~CallRecord();

  /// @param inputs_bytes  what `inputs` stands for, in full
  PointKey key_of(const RecordedCall& call, std::string_view inputs_bytes) const;
  struct Found {
    std::string results;          ///< KeptCall::results
    std::vector<ReadFile> reads;  ///< KeptCall::reads: all are what they were
  };
  /// Any thread.
  std::optional<Found> find(const RecordedCall& call);
  /// Any thread; waits if very much can not be written.
  void keep(KeptCall call);
  KeptFiles& files() { return files_; }
  /// A result could not be kept: why. problem() tells the first; it writes what is left, and nothing is kept after it.
  void note_problem(std::string text);
  std::optional<std::string> problem();

  /// The functions that something is kept of, by name. @throws RecordError
  static std::vector<KeptFunction> functions();
  /// Removes what is over the limits, and contents that no entry names. @return how many entries went
  /// @throws RecordError
  static std::uint64_t gc(const CallLimits& limits);

 private:
  Database* database();
  std::optional<Found> find_kept(const RecordedCall& call);
  bool start_writer();
  void work();
  static void write(Database& database, const std::vector<std::shared_ptr<const KeptCall>>& calls,
                    const std::set<std::int64_t>& used);

  const std::string version_;
  const bool takes_old_;
  KeptFiles files_;

  std::mutex reader_mutex_;  // guards the next three
  bool is_opened_ = false;
  std::unique_ptr<Database> reader_;  // null: nothing can be read
  std::optional<Statement> find_;

  std::mutex mutex_;  // guards all below; taken after reader_mutex_, if both
  std::condition_variable arrived_, written_;
  /// Not written yet; or, without takes_old_, of this run: the results of those only are taken.
  std::map<PointKey, std::shared_ptr<const KeptCall>> present_;
  std::vector<std::shared_ptr<const KeptCall>> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::set<std::int64_t> used_;  // rows
  bool is_ending_ = false, has_failed_ = false;
  std::optional<std::string> problem_;
  std::thread thread_;
};

}  // namespace raddle::vm
