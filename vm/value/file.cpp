#include "vm/value/file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace raddle::vm {

namespace {

std::string make_temporary() {
  const char* folder = std::getenv("SWIFT_TMP");
  if (!folder) folder = std::getenv("TMP");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/raddle_XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return {};
  close(descriptor);
  return path;
}

bool keeps_temporaries() {
  const char* setting = std::getenv("SWIFT_TMP_AUTODELETE");
  return setting && std::string_view(setting) == "0";
}

}  // namespace

File::~File() {
  if (temporary_ && !keeps_temporaries()) unlink(path_.c_str());
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

void File::alias(Ref<File> other) {
  const std::lock_guard lock(mutex_);
  alias_ = std::move(other);
}

}  // namespace raddle::vm
