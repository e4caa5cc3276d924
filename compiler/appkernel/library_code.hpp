#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace raddle::appkernel {

/// Code of the library's AppKernels that was made when the tool was built, in files of a folder: so a script that has
/// only these needs no clang where it runs. The folder is trusted as the tool itself is.
class LibraryCode {
 public:
  /// @param folder  "": beside the executable, or in ../lib/raddle
  explicit LibraryCode(const std::string& folder = "");
  /// @param name  of the kernel and of what its code is for
  /// @param key   of all that the code comes from   @return nothing: there is none, or it comes from something else
  std::optional<std::string> find(const std::string& name, const std::string& key) const;
  /// @return why not; "": it is written
  std::string store(const std::string& name, const std::string& key, std::string_view code) const;

 private:
  const std::string folder_;
};

/// The best set of instructions that this processor has and the library has code for, as clang names it.
const char* library_instructions();
/// All that the library has code for.
inline constexpr const char* library_instruction_sets[] = {"x86-64-v3", "x86-64"};

}  // namespace raddle::appkernel
