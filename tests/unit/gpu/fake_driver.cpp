// A libcuda.so.1 without a GPU, for tests: the functions of gpu/cuda/driver_functions.def, on the host. It runs no PTX:
// the text of a module is "host CODE WORDS", the address of a raddle_leaf_function of Note [ranges] in
// vm/program/leaf_abi.hpp and how many words it takes; of calls of an AppKernel "calls CODE", the address of a
// vm::AppKernelCode; that of a super kernel "super CODE WORDS CODE WORDS .." for its functions, or the PTX of
// bench/queues, for which it has functions of its own. All else is refused as PTX that is not valid. A super kernel is
// a thread for each of at most eight warps, from its launch on.
//
// It finds out what a real driver does not always tell. What is asked of a stream is done when the stream is waited
// for, and not before. Addresses on a card are none of the host. Functions that need a context of the thread fail
// without. What is copied, or given to a kernel, has to lie in memory of the card's that is allocated then, else the
// process ends. What was never written there are bytes that make wrong results.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/superkernel/queues.hpp"
#include "tests/unit/gpu/fake_driver.hpp"
#include "tests/unit/gpu/fake_memory.hpp"
#include "vm/foreign/app_kernel.hpp"
#include "vm/program/leaf_abi.hpp"

namespace {

using raddle::gpu::end;
using raddle::gpu::FakeDriver;
using raddle::gpu::host;
using raddle::gpu::tag;
namespace superkernel = raddle::gpu::superkernel;

FakeDriver state;
thread_local void* context = nullptr;
std::atomic<int> warps_of_contexts[64]{};  ///< of super kernels
std::atomic<int>& warps_here() { return warps_of_contexts[reinterpret_cast<std::uintptr_t>(context) % 64]; }
/// What a driver does not come back from beside a kernel that stays.
void need_no_super_kernel() {
  if (warps_here() != 0 || (context != nullptr && state.hung_context == context)) std::abort();
}

enum : int {
  ok = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_context = 201,
  invalid_ptx = 218,
  not_found = 500
};

struct RangeCode {
  raddle_leaf_function code;
  std::size_t words;
};
struct Stream {
  std::vector<std::function<void()>> work;
  std::vector<std::jthread> warps;  ///< of a super kernel
  bool is_hung = false;             ///< one was launched that does not end
  void run() {
    if (is_hung) end("a stream is waited for whose kernel does not end");
    warps.clear();
    for (const auto& each : work) each();
    work.clear();
  }
};
struct Module {
  std::vector<RangeCode> functions;
  raddle::vm::AppKernelCode calls = nullptr;  ///< null: it has no kernel for calls
  bool is_super = false, is_bench = false;
};

int fault() {
  if (context == nullptr) return invalid_context;
  return state.broken_context.load() == context ? state.broken.load() : ok;
}

raddle::gpu::FakeMemory memory;

/// What is made and not ended: of a card that hangs nobody ends it, which is no leak.
class Objects {
 public:
  void* add(void* object) {
    const std::lock_guard lock(mutex_);
    all_.insert(object);
    return object;
  }
  void remove(void* object) {
    const std::lock_guard lock(mutex_);
    all_.erase(object);
  }

 private:
  std::mutex mutex_;
  std::set<void*> all_;
};
Objects& objects = *new Objects;  // never destroyed

void find_on_host(std::vector<std::int64_t>& words) {
  for (std::int64_t& word : words)
    if ((static_cast<std::uint64_t>(word) & tag) != 0)
      word = reinterpret_cast<std::int64_t>(host(static_cast<std::uint64_t>(word)));
}

void run(const RangeCode& module, std::vector<std::int64_t> words, std::int64_t threads) {
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
void run_calls(const Module& module, const std::vector<std::int64_t>& parameters) {
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
superkernel::Queues on_host(superkernel::Queues queues) {
  const auto find = [](auto*& pointer) {
    pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(host(reinterpret_cast<std::uint64_t>(pointer)));
  };
  find(queues.ring), find(queues.stop), find(queues.beat), find(queues.ended), find(queues.descriptors);
  find(queues.completions), find(queues.slots), find(queues.ticket), find(queues.completion_ticket);
  find(queues.progress), find(queues.place);
  return queues;
}

std::uint64_t compute(const Module& module, std::uint64_t function, const std::int64_t* given, std::uint64_t first,
                      std::uint64_t step, std::uint64_t end) {
  given = static_cast<const std::int64_t*>(host(reinterpret_cast<std::uint64_t>(given)));
  if (module.is_bench) {
    auto* const to = static_cast<std::uint64_t*>(host(static_cast<std::uint64_t>(given[3])));
    for (std::uint64_t number = first; function == 1 && number < end; number += step) to[number] = number;
    if (function == 2 && first == 0) std::this_thread::sleep_for(std::chrono::nanoseconds(given[4]));
    return end;
  }
  const RangeCode& range = module.functions[function];
  std::vector<std::int64_t> words(given, given + range.words);
  find_on_host(words);
  words[2] = static_cast<std::int64_t>(end);
  raddle_leaf_worker worker{};
  std::int64_t results[] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(step)};
  range.code(&worker, words.data(), results, nullptr);
  return static_cast<std::uint64_t>(results[0]);
}

constexpr unsigned most_warps = 8;
Module null_module;

/// What was asked of the stream before is done.
void start(const Module& module, superkernel::Queues queues, Stream& stream) {
  ++state.super_launches;
  stream.run();
  if (state.is_dead) return;
  if (state.is_hung) {
    stream.is_hung = true;
    state.hung_context = context;
    return;
  }
  queues = on_host(queues);
  queues.workers = std::min(queues.workers, most_warps - 1);
  std::atomic<int>& warps = warps_here();
  for (unsigned number = 0; number <= queues.workers; ++number)
    stream.warps.emplace_back([&module, &warps, queues, number] {
      const superkernel::Warp warp;
      const auto dispatch = [&module](auto... parts) { return compute(module, parts...); };
      ++warps;
      if (number == 0)
        ingest(queues, warp);
      else
        work(queues, warp, dispatch);
      --warps;
    });
}

}  // namespace

extern "C" {

FakeDriver* raddle_fake_driver() { return memory.forget_all(), state.allocations = 0, &state; }

int cuInit(unsigned) {
  if (const char* const count = std::getenv("RADDLE_FAKE_GPUS")) state.devices = std::atoi(count);
  if (const char* const version = std::getenv("RADDLE_FAKE_CUDA")) state.version = std::atoi(version);
  while (std::getenv("RADDLE_FAKE_NEVER_BEGINS") != nullptr) std::this_thread::sleep_for(std::chrono::seconds(1));
  return state.devices == 0 ? no_device : ok;
}
int cuDriverGetVersion(int* version) { return *version = state.version, ok; }
int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return ok;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; return ok;
    case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return ok;
    default: return invalid_value;
  }
}
int cuDeviceGetCount(int* count) { return *count = state.devices, ok; }
int cuDeviceGet(int* device, int number) { return *device = number + 7, ok; }
int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device - 7);
  return ok;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{8} << 30, ok; }
int cuMemGetInfo_v2(std::size_t* bytes_left, std::size_t* bytes) {
  return *bytes_left = memory.left(state.memory, context), *bytes = state.memory, fault();
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 16: return *value = 4, ok;
    case 39: return *value = 2048, ok;
    case 75: return *value = 9, ok;
    case 76: return *value = 0, ok;
    case 115: return *value = 1, ok;
    default: return invalid_value;
  }
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned flags) { return flags == 4 ? ok : invalid_value; }
int cuDevicePrimaryCtxRetain(void** made, int device) {
  ++state.contexts;
  return *made = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device)), ok;
}
int cuDevicePrimaryCtxRelease_v2(int) { return --state.contexts, ok; }
int cuCtxSetCurrent(void* now) { return context = now, ok; }
int cuModuleLoadDataEx(void** made, const void* image, unsigned, int*, void**) {
  if (const int error = fault()) return error;
  need_no_super_kernel();
  std::istringstream text(static_cast<const char*>(image));
  Module module;
  std::string kind;
  std::uint64_t code = 0;
  std::size_t words = 0;
  text >> kind;
  if (kind == "calls" && text >> code) module.calls = reinterpret_cast<raddle::vm::AppKernelCode>(code);
  while (text >> code >> words) module.functions.push_back({reinterpret_cast<raddle_leaf_function>(code), words});
  module.is_bench = text.str().find("raddle_queue_bench_null") != std::string::npos;
  module.is_super = kind == "super" || module.is_bench;
  if (text.str().find("unfit") != std::string::npos) return invalid_ptx;
  if (!module.is_super && module.calls == nullptr && (kind != "host" || module.functions.empty())) return invalid_ptx;
  ++state.modules;
  return *made = objects.add(new Module(std::move(module))), ok;
}
int cuModuleUnload(void* module) {
  need_no_super_kernel();
  objects.remove(module);
  return delete static_cast<Module*>(module), --state.modules, ok;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto& found = *static_cast<Module*>(module);
  const bool is_null = found.is_bench && std::strcmp(name, "raddle_queue_bench_null") == 0;
  const char* const kernel = found.is_super ? "raddle_super" : found.calls != nullptr ? "raddle_calls" : "raddle_range";
  if (std::strcmp(name, kernel) != 0 && !is_null) return not_found;
  return *function = is_null ? &null_module : module, ok;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  switch (attribute) {
    case 0: return *value = 128, ok;
    case 4: return *value = state.registers, ok;
    default: return invalid_value;
  }
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) { return *blocks = 4, fault(); }
int cuStreamCreate(void** stream, unsigned) {
  if (const int error = fault()) return error;
  return *stream = objects.add(new Stream), ok;
}
int cuStreamDestroy_v2(void* stream) {
  static_cast<Stream*>(stream)->run();
  objects.remove(stream);
  return delete static_cast<Stream*>(stream), ok;
}
int cuStreamSynchronize(void* stream) {
  static_cast<Stream*>(stream)->run();
  return fault();
}
int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void*) {
  if (const int error = fault()) return error;
  if (!memory.allocate(*address, bytes, state.memory, context)) return out_of_memory;
  return ++state.allocations, ok;
}
int cuMemFreeAsync(std::uint64_t address, void* stream) {
  static_cast<Stream*>(stream)->work.emplace_back([address] { memory.free(address), --state.allocations; });
  return fault();
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  state.bytes_in += bytes;
  static_cast<Stream*>(stream)->work.emplace_back([=, own = context] {
    memory.need(to, bytes, own);
    std::memcpy(host(to), from, bytes);
  });
  return fault();
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  static_cast<Stream*>(stream)->work.emplace_back([=, own = context] {
    memory.need(from, bytes, own);
    std::memcpy(to, host(from), bytes);
  });
  return fault();
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  static_cast<Stream*>(stream)->work.emplace_back([=, own = context] {
    memory.need(to, bytes, own), memory.need(from, bytes, own);
    std::memcpy(host(to), host(from), bytes);
  });
  return fault();
}
int cuMemsetD8Async(std::uint64_t address, unsigned char byte, std::size_t count, void* stream) {
  static_cast<Stream*>(stream)->work.emplace_back([=, own = context] {
    memory.need(address, count, own);
    std::memset(host(address), byte, count);
  });
  return fault();
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned, unsigned, unsigned block_x, unsigned, unsigned, unsigned,
                   void* stream, void** parameters, void**) {
  if (const int error = fault()) return error;
  while (state.is_held) std::this_thread::yield();  // no wait(): it is of one library
  const Module& module = *static_cast<Module*>(function);
  if (module.is_super)
    return start(module, *static_cast<superkernel::Queues*>(parameters[0]), *static_cast<Stream*>(stream)), ok;
  if (module.functions.empty() && module.calls == nullptr) return ok;
  ++state.launches;
  if (const int error = state.launch_error.exchange(0)) state.broken = error, state.broken_context = context;
  const std::size_t count_of_words = module.calls != nullptr ? 3 : module.functions.front().words;
  std::vector<std::int64_t> words;
  for (std::size_t i = 0; i <= count_of_words; ++i) words.push_back(*static_cast<std::int64_t*>(parameters[i]));
  const std::int64_t threads = std::int64_t{grid_x} * block_x;
  static_cast<Stream*>(stream)->work.emplace_back([=, module = module, own = context] {
    for (const std::int64_t word : words)
      if ((static_cast<std::uint64_t>(word) >> 56) == (tag >> 56))
        memory.need(static_cast<std::uint64_t>(word), 1, own);
    if (module.calls != nullptr)
      run_calls(module, words);
    else
      run(module.functions.front(), words, threads);
  });
  return ok;
}
int cuStreamQuery(void* stream) {
  if (const int error = fault()) return error;
  constexpr int not_ready = 600, launch_failed = 719;
  const auto& asked = *static_cast<Stream*>(stream);
  return state.is_dead ? launch_failed : asked.warps.empty() && !asked.is_hung ? ok : not_ready;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  if (const int error = fault()) return error;
  if (flags != 2) return invalid_value;
  ++state.allocations;
  return *memory = objects.add(std::aligned_alloc(256, (bytes + 255) / 256 * 256)), ok;
}
int cuMemFreeHost(void* memory) {
  need_no_super_kernel();
  objects.remove(memory);
  return std::free(memory), --state.allocations, ok;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* memory, unsigned) {
  return *address = reinterpret_cast<std::uint64_t>(memory) | tag, ok;
}

}  // extern "C"
