#include "vm/foreign/app_kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "vm/foreign/c_arguments.hpp"
#include "vm/foreign/crash_notice.hpp"

namespace raddle::vm {

AppKernelFunction::~AppKernelFunction() {
  if (library_ != nullptr) dlclose(library_);
}

void AppKernelFunction::load() {
  if (compiler_ == nullptr) {
    problem_ = "AppKernels can not be compiled here";
    return;
  }
  tell_of_crashes();
  const std::expected<std::string, std::string> library = compiler_->compile(function_);
  if (!library) {
    problem_ = library.error();
    return;
  }
  file_ = FileDescriptor(memfd_create("raddle_app_kernel", MFD_CLOEXEC));
  if (!file_ || write_all(file_.get(), *library) != 0) {
    problem_ = fmt::format("no memory for the code of `{}`: {}", function_.code, error_text(errno));
    return;
  }
  library_ = dlopen(fmt::format("/proc/self/fd/{}", file_.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ != nullptr) kernel_ = reinterpret_cast<std::int32_t (*)(void* const*)>(dlsym(library_, symbol));
  if (kernel_ == nullptr) problem_ = fmt::format("can not load the code of `{}`: {}", function_.code, dlerror());
}

std::string AppKernelFunction::call(std::span<const Value> inputs, std::span<Value> outputs) {
  std::call_once(once_, [this] { load(); });
  if (!problem_.empty()) return problem_;
  thread_local CArguments arguments;  // its memory is kept
  std::string problem = arguments.set(function_, CArguments::Way::fills, inputs);
  if (!problem.empty()) return problem;
  const std::int32_t status = kernel_(arguments.pointers());
  write_output_of_c();
  arguments.take_outputs(function_, outputs);
  return status == 0 ? "" : fmt::format("`{}` returned {}", function_.code, status);
}

}  // namespace raddle::vm
