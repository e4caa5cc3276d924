#pragma once
// What the fake driver has of modules, and how it runs their kernels.
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "gpu/superkernel/queues.hpp"
#include "tests/bench/gpu/growth.hpp"
#include "tests/unit/gpu/fake_memory.hpp"
#include "vm/foreign/app_kernel.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::gpu {

struct FakeRange {
  raddle_leaf_function code;
  std::size_t words;
};

struct FakeModule {
  std::vector<FakeRange> functions;
  vm::AppKernelCode calls = nullptr;  ///< null: it has no kernel for calls
  bool is_super = false, is_bench = false, is_faulty = false;
  std::string ptx_entry;           ///< of a kernel in PTX
  std::size_t ptx_parameters = 0;  ///< its parameters, of 8 bytes each
};

/// Of the first kernel in PTX.
inline bool reads_ptx(const std::string& text, FakeModule& module) {
  const std::size_t entry = text.find(".entry ");
  if (entry == std::string::npos || std::getenv("RADDLE_FAKE_TAKES_PTX") == nullptr) return false;
  const std::size_t open = text.find('(', entry), close = text.find(')', entry);
  module.ptx_entry = text.substr(entry + 7, open - entry - 7);
  for (std::size_t at = text.find(".param", open); at < close; at = text.find(".param", at + 1))
    ++module.ptx_parameters;
  module.is_super = module.ptx_entry == "raddle_super";
  return module.is_super || module.ptx_entry == "raddle_range" || module.ptx_entry == "raddle_calls";
}

/// The program that has loaded this library may know a PTX in another form.
inline std::string code_of_program(const char* ptx) {
  if (std::strstr(ptx, "raddle_gemtc_test") == nullptr) return ptx;
  const auto code = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "raddle_gemtc_test_code"));
  return code != nullptr ? code() : ptx;
}

/// As drivers keep what they compile. @return the folder has had it, and has it now
inline bool is_kept(const std::string& text) {
  const char *const folder = std::getenv("CUDA_CACHE_PATH"), *const disabled = std::getenv("CUDA_CACHE_DISABLE");
  if (folder == nullptr || (disabled != nullptr && std::strcmp(disabled, "1") == 0)) return false;
  const auto file = std::filesystem::path(folder) / std::to_string(std::hash<std::string>()(text));
  return std::filesystem::exists(file) || (std::ofstream(file) << "a cubin", false);
}

/// No point ends well, nor any call.
inline void refuse_all(const FakeModule& module, const std::vector<std::int64_t>& parameters) {
  const auto at = [](std::int64_t address) {
    return static_cast<std::int64_t*>(host(static_cast<std::uint64_t>(address)));
  };
  if (module.ptx_entry == "raddle_range")
    *at(parameters.back()) = 0;
  else
    std::fill_n(at(parameters[3]), parameters[2], 1);
}

inline void find_on_host(std::vector<std::int64_t>& words) {
  for (std::int64_t& word : words)
    if ((static_cast<std::uint64_t>(word) & tag) != 0)
      word = reinterpret_cast<std::int64_t>(host(static_cast<std::uint64_t>(word)));
}

inline void run(const FakeRange& module, std::vector<std::int64_t> words, std::int64_t threads) {
  auto* const least = static_cast<std::uint64_t*>(host(static_cast<std::uint64_t>(words.back())));
  find_on_host(words);
  raddle_leaf_worker worker{};
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    std::int64_t results[] = {thread, threads};
    module.code(&worker, words.data(), results, nullptr);
    *least = std::min(*least, static_cast<std::uint64_t>(results[0]));
  }
}

/// Parameters: words of all calls, how many each has, how many calls there are, statuses.
inline void run_calls(const FakeModule& module, const std::vector<std::int64_t>& parameters) {
  auto* row = static_cast<std::uint64_t*>(host(static_cast<std::uint64_t>(parameters[0])));
  auto* const statuses = static_cast<std::int64_t*>(host(static_cast<std::uint64_t>(parameters[3])));
  for (std::int64_t i = 0; i < parameters[2]; ++i, row += parameters[1]) {
    std::vector<bool> is_address;
    for (std::int64_t word = 0; word < parameters[1]; ++word) {
      is_address.push_back((row[word] & tag) != 0);
      row[word] &= ~tag;
    }
    char error[8];
    statuses[i] = module.calls(row, error, sizeof error);
    for (std::size_t word = 0; word < is_address.size(); ++word)
      if (is_address[word]) row[word] |= tag;
  }
}

/// Addresses in memory of the queues, as the host has them.
inline superkernel::Queues on_host(superkernel::Queues queues) {
  const auto find = [](auto*& pointer) {
    pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(host(reinterpret_cast<std::uint64_t>(pointer)));
  };
  find(queues.ring), find(queues.stop), find(queues.beat), find(queues.ended), find(queues.descriptors);
  find(queues.completions), find(queues.slots), find(queues.ticket), find(queues.completion_ticket);
  find(queues.progress), find(queues.place);
  return queues;
}

inline std::uint64_t compute(const FakeModule& module, std::uint64_t function, const std::int64_t* given,
                             std::uint64_t first, std::uint64_t step, std::uint64_t end) {
  given = static_cast<const std::int64_t*>(host(reinterpret_cast<std::uint64_t>(given)));
  if (module.is_bench) {
    auto* const to = static_cast<std::uint64_t*>(host(static_cast<std::uint64_t>(given[3])));
    for (std::uint64_t number = first; function == 1 && number < end; number += step) to[number] = number;
    for (std::uint64_t number = first; function == 3 && number < end; number += step)
      to[number] = std::bit_cast<std::uint64_t>(bench::growth_of_point(number));
    if (function == 2 && first % superkernel::lane_count == 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(given[4]));
    return end;
  }
  if (!module.ptx_entry.empty()) return first;
  const FakeRange& range = module.functions[function];
  std::vector<std::int64_t> words(given, given + range.words);
  find_on_host(words);
  words[2] = static_cast<std::int64_t>(end);
  raddle_leaf_worker worker{};
  std::int64_t results[] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(step)};
  range.code(&worker, words.data(), results, nullptr);
  return static_cast<std::uint64_t>(results[0]);
}

}  // namespace raddle::gpu
