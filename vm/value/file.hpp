#pragma once
// A file: the path and the future "its content is complete".
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "vm/value/file_identity.hpp"
#include "vm/value/future.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class File final : public HeapObject {
 public:
  File() = default;  ///< unmapped
  /// @param replaces  what another file has written there, before this one is written
  explicit File(std::string path, bool replaces = false, std::uint64_t activation = 0, std::uint64_t series = 0)
      : mapped_(true), replaces_(replaces), activation_(activation), series_(series), path_(std::move(path)) {}
  /// Deletes the temporary, unless the environment says SWIFT_TMP_AUTODELETE=0.
  ~File() override;
  /// A complete file value.
  static Value existing(std::string path);

  bool is_mapped() const { return mapped_; }
  bool replaces() const { return replaces_; }
  /// Of the function that declares it.
  std::uint64_t activation() const { return activation_; }
  /// The same for files of activations that follow each other; 0: there are none.
  std::uint64_t series() const { return series_; }
  /// The script gives it a name: it, or the file that it is another name of, is mapped. Any thread.
  bool is_named();
  /// path() is what it will be for ever: it is mapped, another file's name, or has been asked for its path. Any thread.
  bool has_path();
  /// Of an unmapped file: a temporary in $SWIFT_TMP, $TMP or /tmp, made at the first call. Any thread.
  /// @return "" if no temporary could be made
  const std::string& path();
  /// Its one writer is about to write it. @return false: this was said before, by the same writer. Any thread.
  bool begin_writing() { return !is_written_.exchange(true, std::memory_order_relaxed); }
  /// It has not written it, and says so anew when it does. Any thread.
  void give_up_writing() { is_written_.store(false, std::memory_order_relaxed); }
  /// Its writer has written this, and says so before it completes it.
  void set_written(std::optional<FileIdentity> written) { written_ = written; }
  /// Of a complete file: what its writer, of this run, has made of it; none if that is not known.
  std::optional<FileIdentity> written();
  /// An unmapped file becomes another name of `other`, which it keeps alive. Any thread.
  /// @return false: it has a name already, since it is mapped or somebody has asked for it
  bool alias(Ref<File> other);
  Future& complete() { return complete_; }
  bool is_complete() const { return complete_.is_resolved(); }

 private:
  const bool mapped_ = false;
  const bool replaces_ = false;
  const std::uint64_t activation_ = 0, series_ = 0;
  std::atomic<bool> is_written_ = false;  // a mark between calls that are ordered by the dataflow: relaxed
  std::mutex mutex_;                      // guards path_ of an unmapped file, and alias_
  std::string path_;
  bool temporary_ = false;
  Ref<File> alias_;
  std::optional<FileIdentity> written_;  // of its writer; of others once it is complete
  Future complete_;
};

inline File& Value::as_file() const { return *static_cast<File*>(object()); }

}  // namespace raddle::vm
