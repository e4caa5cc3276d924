#include "compiler/appkernel/kernel_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "compiler/appkernel/kernel_headers.hpp"
#include "compiler/source/kernel_sources.hpp"

namespace raddle::appkernel {
namespace {

bool is_of_word(char sign) { return std::isalnum(static_cast<unsigned char>(sign)) != 0 || sign == '_'; }

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) return at;
  }
  return std::string_view::npos;
}

/// `RADDLE_KERNEL int name(`
void add_kernels(std::string_view text, std::vector<std::string>& names) {
  constexpr std::string_view mark = "RADDLE_KERNEL";
  for (std::size_t at = find_word(text, mark); at != std::string_view::npos; at = find_word(text, mark, at + 1)) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return;
    std::size_t begin = open;
    while (is_of_word(text[begin - 1])) --begin;
    if (begin < open) names.emplace_back(text.substr(begin, open - begin));
  }
}

/// None declares kernels: those of C++, which have names without dots, and of C.
bool is_of_system(const std::string& header) {
  std::error_code error;
  return header.find('.') == std::string::npos || std::filesystem::exists("/usr/include/" + header, error);
}

/// Whether a file that is included can declare kernels and is not among `sources`.
bool includes_others(const SourceFile& file, const std::vector<SourceFile>& sources) {
  return std::ranges::any_of(includes_of(file.text), [&](const Include& include) {
    if (include.name == "raddle_kernel.h") return false;
    if (!include.is_quoted) return include.name.empty() || !is_of_system(include.name);
    return std::ranges::find(sources, place_beside(file, include.name), &SourceFile::path) == sources.end();
  });
}

std::optional<KernelFault> fault_in(const std::vector<SourceFile>& sources, const std::string& file,
                                    const std::string& kernel) {
  const std::string name = kernel.substr(kernel.rfind(':') + 1);
  KernelFault fault{.text = fmt::format("`{}` has no function `{}`", file, kernel), .wanted = name, .names = {}};
  for (const SourceFile& source : sources) {
    if (find_word(source.text, name) != std::string::npos || source.text.find("##") != std::string::npos) return {};
    add_kernels(source.text, fault.names);
  }
  const auto may_be_elsewhere = [&](const SourceFile& source) { return includes_others(source, sources); };
  if (std::ranges::any_of(sources, may_be_elsewhere)) return {};
  return fault;
}

std::optional<KernelFault> fault_in_library(const std::string& file, const std::string& kernel) {
  KernelFault fault{
      .text = fmt::format("the library has no file `{}` of AppKernels", file), .wanted = file, .names = {}};
  for (const KernelHeader& header : kernel_headers()) {
    if (!header.path.ends_with(".cu")) continue;
    std::string written = fmt::format("<{}>", header.path);
    if (written == file) return fault_in({{std::string(header.path), std::string(header.text)}}, file, kernel);
    fault.names.push_back(std::move(written));
  }
  return fault;
}

}  // namespace

std::optional<KernelFault> fault_of_kernel(const std::string& file, const std::string& kernel) {
  if (file.starts_with('<')) return fault_in_library(file, kernel);
  const auto sources = kernel_sources(file);
  if (!sources)
    return KernelFault{
        .text = fmt::format("can not read `{}`: {}", file, sources.error()), .wanted = file, .names = {}};
  return fault_in(*sources, file, kernel);
}

}  // namespace raddle::appkernel
