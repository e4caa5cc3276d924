#include "vm/foreign/app_kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "vm/foreign/c_arguments.hpp"

namespace raddle::vm {

void AppKernelFunction::load() {
  if (compiler_ == nullptr) {
    problem_ = "AppKernels can not be compiled here";
    return;
  }
  for (const bool is_check : {false, true}) {
    std::expected<AppKernelCode, std::string> loaded =
        is_check ? compiler_->load_check(function_) : compiler_->load(function_);
    if (!loaded) {
      problem_ = std::move(loaded.error());
      return;
    }
    (is_check ? check_ : code_) = *loaded;
  }
}

std::string AppKernelFunction::call(std::span<const Value> inputs, std::span<Value> outputs) {
  std::call_once(once_, [this] { load(); });
  if (!problem_.empty()) return problem_;
  thread_local CArguments arguments;  // its memory is kept
  std::string problem = arguments.set(function_, CArguments::Way::fills, inputs);
  if (!problem.empty()) return problem;
  std::array<char, 1024> fault{};
  problem = call_that_may_leave(function_, [&]() -> std::string {
    std::int64_t status = code_(arguments.words().data(), fault.data(), fault.size());
    if (status == 0 && fault[0] == 0 && check_ != nullptr)
      status = check_(arguments.words().data(), fault.data(), fault.size());
    if (fault[0] != 0) return fmt::format("`{}`{}", function_.name, fault.data());
    return status == 0 ? "" : fmt::format("`{}` returned {}", function_.name, status);
  });
  write_output_of_c();
  arguments.take_outputs(function_, outputs);
  return problem;
}

}  // namespace raddle::vm
