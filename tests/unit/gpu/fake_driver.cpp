// A libcuda.so.1 without a GPU, for tests: the functions of gpu/cuda/driver_functions.def, and those that bench/gpu has
// besides, on the host. It runs no PTX: the text of a module is "host CODE WORDS", the text_address() of a
// raddle_leaf_function of Note [ranges] in vm/program/leaf_abi.hpp and how many words it takes; of calls of an
// AppKernel "calls CODE", that of a vm::AppKernelCode; that of a super kernel "super CODE WORDS CODE WORDS .." for its
// functions, or the PTX of bench/gpu, for which it has functions of its own: of graphs those of launches that do
// nothing only. For the PTX of gemtc_test_gpu.cpp the program has such a text. With "faulty" behind it each launch
// breaks its context. All else is refused as PTX that is not valid; with RADDLE_FAKE_TAKES_PTX a kernel in PTX, and a
// super kernel, is one of which no point and no call ends well, so that workers compute all. A super kernel is a thread
// for each of at most eight warps, from its launch on.
//
// What it is to do lies in memory of all processes that a test starts. RADDLE_FAKE_FAULT=KIND:N says what the Nth
// launch of each process does, be it of a super kernel: `illegal` breaks its context, `endless` never ends, `exit` and
// `kill` end the process.
//
// It finds out what a real driver does not always tell. What is asked of a stream is done when the stream is waited
// for, and not before. Addresses on a card are none of the host. Functions that need a context of the thread fail
// without. What is copied, or given to a kernel, has to lie in memory of the card's that is allocated then, else the
// process ends; so does what is copied from or to memory of the host's that is not pinned, in a process that has
// nothing but the driver. What was never written there are bytes that make wrong results.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/gpu/fake_driver.hpp"
#include "tests/unit/gpu/fake_kernels.hpp"
#include "tests/unit/gpu/fake_stream.hpp"

namespace {

using raddle::gpu::end;
using raddle::gpu::FakeDriver;
using raddle::gpu::GivenFault;
using raddle::gpu::host;
using Module = raddle::gpu::FakeModule;
using raddle::gpu::Objects;
using Stream = raddle::gpu::FakeStream;
using raddle::gpu::tag;
namespace superkernel = raddle::gpu::superkernel;

int state_file = -1;
/// Of this process, or of the one that has started it.
FakeDriver& found_state() {
  const char* const path = std::getenv("RADDLE_FAKE_STATE");
  state_file = path != nullptr ? open(path, O_RDWR | O_CLOEXEC) : memfd_create("fake-gpu", MFD_CLOEXEC);
  if (state_file < 0 || (path == nullptr && ftruncate(state_file, sizeof(FakeDriver)) != 0)) end("no memory");
  void* const memory = mmap(nullptr, sizeof(FakeDriver), PROT_READ | PROT_WRITE, MAP_SHARED, state_file, 0);
  if (memory == MAP_FAILED) end("no memory");
  return path != nullptr ? *static_cast<FakeDriver*>(memory) : *new (memory) FakeDriver;
}
FakeDriver& state = found_state();
thread_local void* context = nullptr;
std::atomic<int> warps_of_contexts[64]{};  ///< of super kernels
std::atomic<int>& warps_here() { return warps_of_contexts[reinterpret_cast<std::uintptr_t>(context) % 64]; }
/// What a driver does not come back from beside a kernel that stays.
void need_no_super_kernel() {
  const bool is_hung = context != nullptr && state.hung_context == context && state.hung_process == getpid();
  if (warps_here() != 0 || is_hung) std::abort();
}

enum : int {
  ok = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_context = 201,
  invalid_ptx = 218,
  not_found = 500,
  illegal_address = 700,
  not_supported = 801
};

int fault() {
  if (context == nullptr) return invalid_context;
  return state.broken_context == context && state.broken_process == getpid() ? state.broken.load() : ok;
}
void break_context(int error) { state.broken = error, state.broken_context = context, state.broken_process = getpid(); }
/// One of a number that there are still.
bool takes_one(std::atomic<int>& number) {
  int left = number;
  while (left > 0 && !number.compare_exchange_weak(left, left - 1)) continue;
  return left > 0;
}

raddle::gpu::FakeMemory memory;
raddle::gpu::PinnedMemory pinned;

constexpr unsigned most_warps = 8;
Objects& objects = *new Objects;  // never destroyed
GivenFault given_fault;

Module null_module, echo_module;  ///< of bench/gpu

/// As bench_kernel.cpp has it.
void echo(const std::uint64_t* question, std::uint64_t* answer, std::uint64_t last) {
  using superkernel::Access;
  for (std::uint64_t next = 1; next <= last; ++next) {
    while (superkernel::load<Access::entry_read>(question) != next) std::this_thread::yield();
    superkernel::store<Access::entry_written>(answer, next);
  }
}

/// @return of this launch, if it is one that RADDLE_FAKE_FAULT means
std::string fault_of_launch() {
  const std::string kind = given_fault.countdown.fetch_sub(1) == 1 ? given_fault.kind : "";
  if (kind == "illegal") break_context(illegal_address);
  if (kind == "kill") kill(getpid(), SIGKILL);
  if (kind == "exit") _exit(9);
  return kind;
}

/// What was asked of the stream before is done.
void start(const Module& module, superkernel::Queues queues, Stream& stream) {
  ++state.super_launches;
  stream.run();
  const std::string kind = fault_of_launch();
  if (state.is_dead || kind == "illegal") return;
  if (state.is_hung.exchange(false) || kind == "endless") {
    stream.is_hung = true;
    state.hung_context = context;
    state.hung_process = getpid();
    return;
  }
  queues = raddle::gpu::on_host(queues);
  queues.workers = std::min(queues.workers, most_warps - 1);
  std::atomic<int>& warps = warps_here();
  for (unsigned number = 0; number <= queues.workers; ++number)
    stream.run_beside([&module, &warps, queues, number] {
      const superkernel::Warp warp;
      const auto dispatch = [&module](auto... parts) { return raddle::gpu::compute(module, parts...); };
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

FakeDriver* raddle_fake_driver() {
  const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(state_file);
  setenv("RADDLE_FAKE_STATE", path.c_str(), 1);
  while (!Stream::with_warps().empty()) (*Stream::with_warps().begin())->join();
  return memory.forget_all(), state.allocations = 0, &state;
}

int cuInit(unsigned) {
  if (const char* const count = std::getenv("RADDLE_FAKE_GPUS")) state.devices = std::atoi(count);
  if (const char* const unfit = std::getenv("RADDLE_FAKE_UNFIT")) state.unfit = std::atoi(unfit);
  if (const char* const version = std::getenv("RADDLE_FAKE_CUDA")) state.version = std::atoi(version);
  if (std::getenv("RADDLE_FAKE_DEAD") != nullptr) state.is_dead = true;
  given_fault.read();
  ++state.processes;
  state.last_process = getpid();
  while (std::getenv("RADDLE_FAKE_NEVER_BEGINS") != nullptr) std::this_thread::sleep_for(std::chrono::seconds(1));
  return state.devices == 0 ? no_device : ok;
}
int cuDriverGetVersion(int* version) { return *version = state.version, ok; }
int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return ok;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; return ok;
    case invalid_ptx: *name = "CUDA_ERROR_INVALID_PTX"; return ok;
    case illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return ok;
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
    case 13: return *value = 1'000'000, ok;
    case 16: return *value = 4, ok;
    case 36: return *value = 2'000'000, ok;
    case 39: return *value = 2048, ok;
    case 75: return *value = 9, ok;
    case 76: return *value = 0, ok;
    case 115: return *value = 1, ok;
    default: return invalid_value;
  }
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned flags) { return flags == 4 ? ok : invalid_value; }
int cuDevicePrimaryCtxRetain(void** made, int device) {
  if (device - 7 == state.unfit) return no_device;
  ++state.contexts;
  return *made = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device)), ok;
}
int cuDevicePrimaryCtxRelease_v2(int) { return --state.contexts, ok; }
int cuCtxSetCurrent(void* now) { return context = now, ok; }
int cuModuleLoadDataEx(void** made, const void* image, unsigned, int*, void**) {
  if (const int error = fault()) return error;
  need_no_super_kernel();
  std::istringstream text(raddle::gpu::code_of_program(static_cast<const char*>(image)));
  Module module;
  std::string kind;
  std::uint64_t code = 0;
  std::size_t words = 0;
  text >> kind;
  const std::uint64_t base = raddle::gpu::program_base();
  if (kind == "calls" && text >> code) module.calls = reinterpret_cast<raddle::vm::AppKernelCode>(base + code);
  while (text >> code >> words)
    module.functions.push_back({reinterpret_cast<raddle_leaf_function>(base + code), words});
  module.is_faulty = text.str().find("faulty") != std::string::npos;
  module.is_bench = text.str().find("raddle_bench_null") != std::string::npos;
  module.is_super = kind == "super" || module.is_bench;
  if (text.str().find("unfit") != std::string::npos) return invalid_ptx;
  const bool is_known = module.is_super || module.calls != nullptr || (kind == "host" && !module.functions.empty());
  if (!is_known && !reads_ptx(text.str(), module)) return invalid_ptx;
  ++(raddle::gpu::is_kept(text.str()) ? state.kept : state.compiled);
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
  const auto is_of_bench = [&](const char* kernel) { return found.is_bench && std::strcmp(name, kernel) == 0; };
  if (is_of_bench("raddle_bench_null")) return *function = &null_module, ok;
  if (is_of_bench("raddle_bench_echo")) return *function = &echo_module, ok;
  const char* const kernel = !found.ptx_entry.empty() ? found.ptx_entry.c_str()
                             : found.is_super         ? "raddle_super"
                             : found.calls != nullptr ? "raddle_calls"
                                                      : "raddle_range";
  if (std::strcmp(name, kernel) != 0) return not_found;
  return *function = module, ok;
}
int cuFuncGetAttribute(int* value, int attribute, void*) {
  switch (attribute) {
    case 0: return *value = 128, ok;
    case 3: return *value = 0, ok;
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
  ++state.waits;
  static_cast<Stream*>(stream)->run();
  return fault();
}
int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void*) {
  if (std::getenv("RADDLE_FAKE_SLOW_MEMORY") != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(150));
  if (const int error = state.allocation_error.exchange(0)) break_context(error);
  if (const int error = fault()) return error;
  if (!memory.allocate(*address, bytes, state.memory, context)) return out_of_memory;
  return ++state.allocations, ok;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) { return cuMemAllocAsync(address, bytes, nullptr); }
int cuMemFree_v2(std::uint64_t address) {
  need_no_super_kernel();
  return memory.free(address), --state.allocations, fault();
}
int cuMemFreeAsync(std::uint64_t address, void* stream) {
  static_cast<Stream*>(stream)->work.emplace_back([address] { memory.free(address), --state.allocations; });
  return fault();
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  state.bytes_in += bytes;
  if (!state.pins_nothing) pinned.need(from, bytes);
  static_cast<Stream*>(stream)->work.emplace_back([=, own = context] {
    memory.need(to, bytes, own);
    std::memcpy(host(to), from, bytes);
  });
  return fault();
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  if (!state.pins_nothing) pinned.need(to, bytes);
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
  if (&module == &echo_module) {
    const auto at = [&](int number) {
      return static_cast<std::uint64_t*>(host(*static_cast<std::uint64_t*>(parameters[number])));
    };
    const std::uint64_t last = *static_cast<std::uint64_t*>(parameters[2]);
    static_cast<Stream*>(stream)->run_beside(
        [question = at(0), answer = at(1), last] { echo(question, answer, last); });
    return ok;
  }
  if (module.functions.empty() && module.calls == nullptr && module.ptx_entry.empty()) return ok;
  ++state.launches;
  const std::string kind = fault_of_launch();
  if (const int error = state.launch_error.exchange(0)) break_context(error);
  if (module.is_faulty) break_context(illegal_address);
  if (takes_one(state.deadly_launches)) kill(getpid(), SIGKILL);
  if (takes_one(state.endless_launches) || kind == "endless")
    static_cast<Stream*>(stream)->work.emplace_back([] {
      while (true) pause();
    });
  const std::size_t count_of_words = !module.ptx_entry.empty() ? module.ptx_parameters
                                     : module.calls != nullptr ? 4
                                                               : module.functions.front().words + 1;
  std::vector<std::int64_t> words;
  for (std::size_t i = 0; i < count_of_words; ++i) words.push_back(*static_cast<std::int64_t*>(parameters[i]));
  const std::int64_t threads = std::int64_t{grid_x} * block_x;
  static_cast<Stream*>(stream)->work.emplace_back([=, module = module, own = context] {
    for (const std::int64_t word : words)
      if ((static_cast<std::uint64_t>(word) >> 56) == (tag >> 56))
        memory.need(static_cast<std::uint64_t>(word), 1, own);
    if (!module.ptx_entry.empty())
      refuse_all(module, words);
    else if (module.calls != nullptr)
      run_calls(module, words);
    else
      run(module.functions.front(), words, threads);
  });
  return ok;
}
int cuStreamBeginCapture_v2(void*, int) { return fault(); }
int cuStreamEndCapture(void*, void** graph) { return *graph = &null_module, fault(); }
int cuGraphInstantiateWithFlags(void** runnable, void* graph, std::uint64_t) { return *runnable = graph, fault(); }
int cuGraphLaunch(void*, void*) { return fault(); }
int cuStreamQuery(void* stream) {
  if (const int error = fault()) return error;
  constexpr int not_ready = 600, launch_failed = 719;
  const auto& asked = *static_cast<Stream*>(stream);
  return state.is_dead ? launch_failed : !asked.has_warps && !asked.is_hung ? ok : not_ready;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  if (const int error = fault()) return error;
  if (flags != 2) return invalid_value;
  ++state.allocations;
  *memory = objects.add(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return pinned.add(*memory, bytes), ok;
}
int cuMemFreeHost(void* memory) {
  need_no_super_kernel();
  objects.remove(memory);
  pinned.remove(memory);
  return std::free(memory), --state.allocations, ok;
}
int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  if (const int error = flags != 2 ? invalid_value : state.pins_nothing ? not_supported : fault()) return error;
  return pinned.add(memory, bytes), ok;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* memory, unsigned) {
  return *address = reinterpret_cast<std::uint64_t>(memory) | tag, ok;
}

}  // extern "C"
