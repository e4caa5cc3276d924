#include "tests/bench/gpu/driver_costs.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gpu/cuda/cuda_devices.hpp"
#include "gpu/superkernel/accesses.hpp"
#include "tests/bench/gpu/rows.hpp"

namespace raddle::gpu::bench {

namespace {

enum : int {
  core_clock_khz = 13,
  memory_clock_khz = 36,
  bytes_of_own_memory = 3,  ///< of a function: what each thread has beside registers
  mapped = 2,               ///< of host memory: cards read it, too
};

/// Functions of the driver that nothing but measurements uses: raddle runs without them.
struct MeasuredFunctions {
  int (*allocate)(std::uint64_t* address, std::size_t bytes);
  int (*free)(std::uint64_t address);
  int (*begin_capture)(void* stream, int mode);
  int (*end_capture)(void* stream, void** graph);
  int (*instantiate)(void** runnable, void* graph, std::uint64_t flags);
  int (*launch_graph)(void* runnable, void* stream);
};

MeasuredFunctions measured_functions() {
  void* const library = dlopen(CudaDevices::usual_library, RTLD_NOW | RTLD_LOCAL);
  MeasuredFunctions functions{};
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (function == nullptr) give_up(std::string("the driver has no ") + symbol);
  };
  find(functions.allocate, "cuMemAlloc_v2");
  find(functions.free, "cuMemFree_v2");
  find(functions.begin_capture, "cuStreamBeginCapture_v2");
  find(functions.end_capture, "cuStreamEndCapture");
  find(functions.instantiate, "cuGraphInstantiateWithFlags");
  find(functions.launch_graph, "cuGraphLaunch");
  return functions;
}

std::span<const std::byte> parameter(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

class DriverBench {
 public:
  DriverBench(const BenchCard& card, bool is_small)
      : card_(card), driver_(card.driver()), is_small_(is_small), null_(card.kernel("raddle_bench_null")) {}

  void launches() {
    for (int i = 0; i < less(1000); ++i) launch_null();
    wait();
    std::vector<double> times = timed(less(20'000), [&] { launch_null(), wait(); });
    print_spread("launch_and_wait", "launch and wait", std::move(times));
    const int count = less(50'000);
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < count; ++i) launch_null();
    wait();
    print_row("launch", "a launch on one stream", us_since(begin) / count, "us");
    constexpr int nodes = 1000;
    const int graphs = less(50);
    void *graph = nullptr, *runnable = nullptr;
    check(functions_.begin_capture(card_.stream(), 1), "graph");
    for (int i = 0; i < nodes; ++i) launch_null();
    check(functions_.end_capture(card_.stream(), &graph), "graph");
    check(functions_.instantiate(&runnable, graph, 0), "graph");
    check(functions_.launch_graph(runnable, card_.stream()), "graph");
    wait();
    begin = Clock::now();
    for (int i = 0; i < graphs; ++i) check(functions_.launch_graph(runnable, card_.stream()), "graph");
    wait();
    print_row("graph_node", "a node of a graph of 1,000", us_since(begin) / graphs / nodes, "us");
  }

  void memory() {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    std::uint64_t address = 0;
    print_spread("allocate", "cuMemAlloc and cuMemFree of 1 MiB", timed(less(200), [&] {
                   check(functions_.allocate(&address, bytes), "memory");
                   check(functions_.free(address), "memory");
                 }));
    print_spread("allocate_async", "cuMemAllocAsync and cuMemFreeAsync of 1 MiB", timed(less(2000), [&] {
                   check(driver_.allocate(&address, bytes, card_.stream()), "memory");
                   check(driver_.free(address, card_.stream()), "memory");
                 }));
    wait();
  }

  void copies() {
    const std::size_t bytes = (std::size_t{1} << 20) * (is_small_ ? 1 : 256);
    std::uint64_t there = 0;
    check(driver_.allocate(&there, bytes, card_.stream()), "memory");
    const Clock::time_point begin = Clock::now();
    void* pinned = nullptr;
    check(driver_.host_allocate(&pinned, bytes, mapped), "pinned memory");
    print_row("pin", fmt::format("cuMemHostAlloc of {} MiB", bytes >> 20), us_since(begin) / 1e3, "ms");
    std::vector<std::byte> pageable(bytes);
    for (const auto& [memory, kind] :
         {std::pair{pinned, "pinned"}, std::pair<void*, const char*>{pageable.data(), "pageable"}}) {
      std::vector<double> up, down;
      for (int i = 0; i < 4; ++i) {  // the first one touches what it needs
        up = timed(1, [&] { check(driver_.copy_in(there, memory, bytes, card_.stream()), "copy"), wait(); });
        down = timed(1, [&] { check(driver_.copy_out(memory, there, bytes, card_.stream()), "copy"), wait(); });
      }
      const auto gb_per_s = [&](double us) { return static_cast<double>(bytes) / us / 1e3; };
      const std::string what = fmt::format("copy of {} MiB, {} memory", bytes >> 20, kind);
      print_row(fmt::format("copy_in_{}", kind), what + ", to the card", gb_per_s(up.front()), "GB/s");
      print_row(fmt::format("copy_out_{}", kind), what + ", back", gb_per_s(down.front()), "GB/s");
    }
    for (const std::size_t size : {64u, 4096u, 65'536u, 1u << 20})
      print_spread(
          fmt::format("copy_in_{}_bytes", size), fmt::format("copy of {} bytes to the card, and wait", size),
          timed(less(1000), [&] { check(driver_.copy_in(there, pinned, size, card_.stream()), "copy"), wait(); }));
  }

  void questions() {
    constexpr std::size_t apart = 256 / sizeof(std::uint64_t);
    void* memory = nullptr;
    std::uint64_t seen = 0;
    check(driver_.host_allocate(&memory, 2 * apart * sizeof(std::uint64_t), mapped), "pinned memory");
    check(driver_.host_address(&seen, memory, 0), "pinned memory");
    auto* const question = static_cast<std::uint64_t*>(memory);
    std::uint64_t* const answer = question + apart;
    *question = *answer = 0;
    const std::uint64_t answer_seen = seen + apart * sizeof(std::uint64_t);
    const auto last = static_cast<std::uint64_t>(less(20'000));
    const CudaDriver::Parameter parameters[] = {parameter(seen), parameter(answer_seen), parameter(last)};
    check(driver_.launch(card_.kernel("raddle_bench_echo"), 1, 1, card_.stream(), parameters), "launch");
    std::uint64_t next = 0;
    std::vector<double> times = timed(static_cast<int>(last), [&] {
      superkernel::store<superkernel::Access::entry_written>(question, ++next);
      while (superkernel::load<superkernel::Access::entry_read>(answer) != next) continue;
    });
    wait();
    print_spread("question", "question and answer through host memory", std::move(times));
  }

 private:
  int less(int count) const { return is_small_ ? count / 1000 + 10 : count; }
  void check(int error, const char* what) const { card_.check(error, what); }
  void wait() const { check(driver_.wait_for_stream(card_.stream()), "stream"); }
  void launch_null() const { check(driver_.launch(null_, 1, 32, card_.stream(), {}), "launch"); }
  static std::vector<double> timed(int count, const auto& work) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      const Clock::time_point begin = Clock::now();
      work();
      times.push_back(us_since(begin));
    }
    return times;
  }

  const BenchCard& card_;
  const CudaDriver& driver_;
  const bool is_small_;
  void* const null_;
  const MeasuredFunctions functions_ = measured_functions();
};

}  // namespace

void tell_facts(const BenchCard& card) {
  char name[256] = {};
  int version = 0;
  std::size_t bytes_left = 0, bytes = 0;
  card.check(card.driver().device_name(name, sizeof name, card.device()), "name");
  card.check(card.driver().driver_version(&version), "version");
  card.check(card.driver().free_memory(&bytes_left, &bytes), "memory");
  constexpr double gib = 1 << 30;
  print_text("name", "GPU", name);
  print_row("cards", "GPUs that the driver has", card.cards(), "");
  print_text("capability", "compute capability",
             fmt::format("{}.{}", card.attribute(cuda_compute_major), card.attribute(cuda_compute_minor)));
  print_row("multiprocessors", "multiprocessors", card.multiprocessors(), "");
  print_row("memory", "memory", static_cast<double>(bytes) / gib, "GiB");
  print_row("free_memory", "memory that is free", static_cast<double>(bytes_left) / gib, "GiB");
  print_row("clock", "clock", card.attribute(core_clock_khz) / 1e3, "MHz");
  print_row("memory_clock", "clock of the memory", card.attribute(memory_clock_khz) / 1e3, "MHz");
  print_text("cuda", "the driver is for CUDA", fmt::format("{}.{}", version / 1000, version % 1000 / 10));
  std::string release;
  if (std::ifstream file("/proc/driver/nvidia/version"); std::getline(file, release))
    print_text("release", "the driver", release);
  print_row("context", "the driver makes a context", card.context_ms(), "ms");
}

void measure_driver(const BenchCard& card, bool is_small) {
  DriverBench bench(card, is_small);
  bench.launches();
  bench.memory();
  bench.copies();
  bench.questions();
}

void measure_modules(const BenchCard& card, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::stringstream text;
    if (!(text << std::ifstream(file).rdbuf())) give_up(file + " can not be read");
    const std::string ptx = text.str();
    constexpr std::string_view entry = ".entry ";
    const std::size_t begin = ptx.find(entry), end = ptx.find('(', begin);
    if (begin == std::string::npos) give_up(file + " has no kernel");
    void *module = nullptr, *kernel = nullptr;
    const Clock::time_point started = Clock::now();
    card.check(card.driver().load_module(&module, ptx), file.c_str());
    const double ms = us_since(started) / 1e3;
    const std::string name = ptx.substr(begin + entry.size(), end - begin - entry.size());
    card.check(card.driver().module_function(&kernel, module, name.c_str()), name.c_str());
    int registers = 0, own_bytes = 0;
    card.check(card.driver().function_attribute(&registers, cuda_function_registers, kernel), "registers");
    card.check(card.driver().function_attribute(&own_bytes, bytes_of_own_memory, kernel), "memory of a thread");
    card.check(card.driver().unload_module(module), "module");
    print_row("module", std::filesystem::path(file).stem(), ms, "ms",
              {{"ptx_bytes", ptx.size()}, {"registers", registers}, {"own_bytes", own_bytes}});
  }
}

}  // namespace raddle::gpu::bench
