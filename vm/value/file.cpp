#include "vm/value/file.hpp"

#include <unistd.h>

#include "vm/value/temporaries.hpp"

namespace raddle::vm {

File::~File() {
  if (temporary_) remove_temporary(path_);
}

Value File::existing(std::string path) {
  Ref<File> file = make_ref<File>(std::move(path));
  WakeList nobody;
  file->complete_.set(Value::of_void(), nobody);
  return Value::of_object(ValueKind::file, std::move(file));
}

const std::string& File::path() {
  if (mapped_) return path_;
  const std::lock_guard lock(mutex_);
  if (alias_) return alias_->path();
  if (path_.empty()) {
    path_ = make_temporary();
    temporary_ = !path_.empty();
  }
  return path_;
}

bool File::is_named() {
  if (mapped_) return true;
  const std::lock_guard lock(mutex_);
  return alias_ && alias_->is_named();
}

bool File::has_path() {
  if (mapped_) return true;
  const std::lock_guard lock(mutex_);
  return alias_ || !path_.empty();
}

std::optional<FileIdentity> File::written() {
  if (mapped_) return written_;
  const std::lock_guard lock(mutex_);
  return alias_ ? alias_->written() : written_;
}

bool File::alias(Ref<File> other) {
  if (mapped_) return false;
  const std::lock_guard lock(mutex_);
  if (!path_.empty() || alias_) return false;
  alias_ = std::move(other);
  return true;
}

}  // namespace raddle::vm
