#pragma once
// The files that runs write: each is written by one call of a run, as the last one would silently win, but for those of
// which the compiler knows an order. Two at once would leave a mixture of both. Half-written ones are removed with the
// run: they must not be taken for results.
#include <cstdint>
#include <expected>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Which point of a sweep writes which file: points are runs of their own, beside each other and one after the other.
/// Any thread.
class PointFiles {
 public:
  /// @param place  the same for all names of a file
  /// @return       another point that has written it or is writing it
  std::optional<std::uint64_t> claim(const std::string& place, std::uint64_t point);
  /// Whether a point has written the file or is writing it.
  bool is_written(const std::string& path);

 private:
  static constexpr std::size_t limit = 1 << 20;  ///< files; what comes after them is not watched: some 50 MB
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> points_;  ///< guarded by mutex_; by hash of the place
};

/// Files that the script names, by what they are: links and `./` make no difference. Temporaries are in no list. Any
/// thread.
class WrittenFiles {
 public:
  struct Writer {
    std::string path;  ///< as the script has it
    CallPlace call;
  };
  struct Output {
    Output(std::string path, bool replaces_link = false, bool replaces = false, std::uint64_t activation = 0,
           std::uint64_t series = 0)
        : path(std::move(path)),
          replaces_link(replaces_link),
          replaces(replaces),
          activation(activation),
          series(series) {}
    std::string path;
    bool replaces_link;  ///< it will be a file of its own, not the one that the link leads to
    bool replaces;       ///< what another call of this activation has written
    std::uint64_t activation;
    std::uint64_t series;  ///< not 0: it replaces what other activations of this series have written, too
  };
  struct Conflict {
    Writer mine, other;                  ///< one file, perhaps under two names
    std::optional<std::uint64_t> point;  ///< of the sweep, which is the other
  };
  enum class How : std::uint8_t {
    at_once,     ///< the caller writes them, and nobody looks before it has
    by_program,  ///< they are half-written until end()
  };

  /// @param point_files  of the sweep whose point's run this is, or null
  explicit WrittenFiles(PointFiles* point_files = nullptr, std::uint64_t point = 0)
      : point_files_(point_files), point_(point) {}

  /// A number for a run: what has been written in one may be written in a later one, but not the other way round, when
  /// the earlier one still goes on.
  std::uint64_t add_run();
  /// A call is about to write these files. Devices, pipes, folders and other files that are no regular ones may be
  /// written by any number of calls, and one call may have one file as several outputs.
  /// @return  what end() is to be given
  /// @error   a file that another call has written or is writing; nothing has begun then
  std::expected<std::vector<std::string>, Conflict> begin(std::uint64_t run, const std::vector<Output>& outputs,
                                                          const CallPlace& call, How how);
  /// A program that has begun these files writes this one elsewhere: it is never half-written.
  void write_aside(const std::vector<std::string>& begun, const std::string& path);
  /// What a program has begun is complete, or has been removed.
  void end(const std::vector<std::string>& begun);
  /// What has begun is not written.
  void give_up(const std::vector<std::string>& begun);
  /// Whether a call has written the file or is writing it.
  bool is_written(const std::string& path);
  /// Removes the files that are half-written.
  void remove_partial();

 private:
  std::optional<std::uint64_t> other_point(const std::string& place) const;

  struct Entry {
    Writer writer;
    std::uint64_t run, activation, series;
    bool is_partial;
    bool is_aside = false;  // write_aside()
  };
  PointFiles* const point_files_;
  const std::uint64_t point_;
  std::mutex mutex_;
  std::uint64_t run_count_ = 0;                     ///< guarded by mutex_
  std::unordered_map<std::string, Entry> entries_;  ///< guarded by mutex_; by place_of(path)
};

/// The entry of its folder that a path names, whatever a link there leads to.
std::filesystem::path entry_of(const std::filesystem::path& path);
void make_folder_of(const std::string& path);
void remove_files(const std::vector<std::string>& paths);

}  // namespace raddle::vm
