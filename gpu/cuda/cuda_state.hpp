#pragma once
// What is behind CudaDevices.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gpu/call_placement.hpp"
#include "gpu/call_queue.hpp"
#include "gpu/cuda/card.hpp"
#include "gpu/cuda/cuda_devices.hpp"
#include "vm/device/device_load.hpp"

namespace raddle::gpu {

class CudaKernel final : public vm::DeviceKernel {
 public:
  /// @param name       of what it computes, in words
  /// @param functions  by card; at least one. Cards of one machine are taken to be alike
  CudaKernel(std::int64_t lanes, std::string name, std::string ptx, const char* entry,
             std::vector<CardFunction> functions)
      : DeviceKernel(lanes),
        name(std::move(name)),
        ptx(std::move(ptx)),
        entry(entry),
        functions(std::move(functions)) {}
  const std::string name;
  const std::string ptx;
  const char* const entry;  ///< in the text
  /// That of one card is read by who has entered it, and written while nobody can: Note [cards that fail].
  std::vector<CardFunction> functions;
  /// It has made cards fail. Relaxed: who does not see it yet runs it once more.
  mutable std::atomic<bool> is_blamed{false};
};

/// A thread's.
struct CardStream {
  void* stream = nullptr;
  unsigned starts = 0;  ///< CardPlace::starts when it was opened
  int error = 0;        ///< the driver's, if there is none: perhaps the card has failed
};

/// Note [cards that fail]. The driver of each card is in a process of its own. When the card fails, or its process, all
/// that is asked of it ends with an error: who sees that first ends the process, and brings the card *down*. Then
/// nobody *enters* it any more: to enter is to be about to use it, with what a batch or a bundle needs. When all have
/// left, the thread that loads opens the card anew, in a new process, and loads on it what was loaded before; its
/// memory is empty.
///
/// What was under way goes back to the queue, with a fault, as it has no results yet. What has a fault enters only
/// alone, so that if the card fails again it is known why: then its kernel is *blamed*, which no card gets any more,
/// and workers compute all of it. A card that has failed three times, and in between has neither ended anything nor
/// shown whom to blame, is given up.
///
/// A driver in this process (for tests) does not begin anew: its card is given up at once, and what it had under way is
/// the workers', as it may have made it fail.
struct CardPlace {
  unsigned device = 0;           ///< of the driver's, of which some may not open
  unsigned threads = 0;          ///< for batches, at least one: more could not be made
  unsigned call_threads = 0;     ///< for calls; 0: nobody has asked for calls, or none could be made
  unsigned taken = 0;            ///< batches that its threads have
  std::int64_t taken_ns = 0;     ///< that these take, as far as one can say
  unsigned busy = 0;             ///< so many have entered it
  unsigned wanting_alone = 0;    ///< so many want to be alone on it
  unsigned starts = 0;           ///< how often it was opened: streams are of one of these times
  unsigned vain_starts = 0;      ///< how often it was opened anew since it has done something
  unsigned unknown = 0;          ///< of what has entered, of how much nobody knows what it takes
  std::int64_t expected_ns = 0;  ///< that all else which has entered takes
  bool is_alone = false;         ///< who has entered it is to be alone there
  bool is_down = false, is_given_up = false;
};

/// Note [data choose the card]. A batch is meant for the card that would begin with it first: when that has done what
/// it has been given, and got what it lacks of what the batch reads. So pieces of one loop go where those of the loop
/// before have left the elements that they read. Another card takes it only if all threads of that card have a
/// batch, or if it is down or given up. Bundles of calls do not count; those with large arrays a policy places
/// (CallPlacement).
struct GivenBatch {
  vm::DeviceBatch batch;
  std::optional<unsigned> card{};  ///< none: for any, as there is but one, or it comes from one that has failed
};

struct CudaDevices::State : std::enable_shared_from_this<CudaDevices::State> {
  State(unsigned most, Way way, const CardLimits& limits, std::string library, ServerProgram server, std::string policy)
      : most(most),
        way(way),
        limits(limits),
        library(std::move(library)),
        server(std::move(server)),
        policy(std::move(policy)) {}
  ~State();

  /// A kernel that is being got.
  struct Text {
    vm::KernelGroup kernels;
    vm::KernelEntry entry;
    std::shared_ptr<vm::CompilerLink> compiler;
    vm::Devices::Prepared done;
    std::string ptx{};                      ///< once it is there
    std::vector<CardFunction> functions{};  ///< by card
  };

  const unsigned most;
  const Way way;
  const CardLimits limits;
  const std::string library;
  const ServerProgram server;  ///< none: a card's driver is in this process
  const std::string policy;    ///< of calls with large arrays
  std::once_flag looking;
  std::string absence;  ///< of the library, in words; written once, under `looking`

  mutable std::mutex mutex;  ///< guards all below, but what says otherwise
  std::condition_variable_any changed;
  std::deque<std::function<void()>> loads;      ///< to be done once the cards are open
  std::vector<vm::RangeKernel> ranges;          ///< functions of the super kernel, by number
  std::deque<std::shared_ptr<Text>> for_super;  ///< are to become functions, one after the other: the first one now
  std::deque<GivenBatch> batches;
  CallQueue calls;                     ///< has a mutex of its own
  std::vector<vm::DeviceFacts> facts;  ///< by card
  std::vector<CardPlace> places;       ///< by card
  /// By card; the cards use them. They and the cards are changed on the thread that loads: before the first batch, and
  /// while a card is down. All threads read them, of a card that they have entered without the mutex.
  std::vector<std::shared_ptr<const CudaDriver>> drivers;
  std::vector<std::unique_ptr<Card>> cards;
  std::shared_ptr<const CudaDriver> next_driver;   ///< of a card that is being opened
  std::vector<std::weak_ptr<CudaKernel>> kernels;  ///< that were loaded
  std::string super;                               ///< text of the super kernel; "": none; of who loads
  bool is_open = false;
  bool is_closing = false;
  std::string problem;
  bool has_blamed = false;       ///< the problem says whom
  vm::DeviceLoad load_of_cards;  ///< any thread, without the mutex
  /// Cards that have not failed. Written under the mutex. For is_hungry() a hint. Seq_cst: who submits a call looks at
  /// it behind the push, and the last one to fail empties the queue behind the write, so that one of them finds the
  /// call.
  std::atomic<unsigned> working = 0;
  std::vector<std::vector<std::jthread>> threads;  ///< by card
  std::jthread opener;

  // opening and loading: cuda_state.cpp
  std::string look_for_driver();
  std::expected<std::shared_ptr<const CudaDriver>, std::string> open_driver();
  std::expected<unsigned, std::string> open_cards();
  std::expected<std::unique_ptr<Card>, std::string> open_card(const CudaDriver& driver, unsigned number) const;
  void close();
  static void start_opener(const std::shared_ptr<State>& state);
  void do_loads(const std::stop_token& stop);
  void add_load(std::function<void()> load);
  bool start_call_threads();
  CardFunction load(unsigned number, const std::string& ptx, const char* entry);
  void load_text(const std::shared_ptr<Text>& text, const std::string& ptx);
  void make_next_super();
  void load_super(const std::optional<std::string>& ptx);
  using LoadedKernel = std::expected<std::shared_ptr<const vm::DeviceKernel>, std::string>;
  LoadedKernel loaded_for_calls(const std::string& name, const std::string& ptx);
  LoadedKernel kernel_of(const std::string& name, const std::string& ptx, const char* entry,
                         std::vector<CardFunction> functions);

  // cards that fail: card_faults.cpp
  bool enter(unsigned number, bool is_alone, std::int64_t expected_ns, CardStream& stream,
             const std::function<bool()>& may_enter);
  void leave(unsigned number, std::int64_t expected_ns, bool has_ended);
  std::uint64_t patience_ns(unsigned number) const;
  void close_stream(unsigned number, const CardStream& stream);
  std::string bring_down(unsigned number, int error, bool is_told = true);
  void give_up(unsigned number, std::unique_lock<std::mutex>& lock);
  void open_anew(unsigned number);
  void load_all_again(unsigned number, Card& card);
  bool goes_again(unsigned& faults, const CudaKernel& kernel, unsigned number, const std::string& fault);

  // work: card_work.cpp
  void work(const std::stop_token& stop, unsigned number, unsigned thread);
  void run(unsigned number, unsigned thread, vm::DeviceBatch batch, CardStream& stream);
  void work_on_calls(const std::stop_token& stop, unsigned number);
  void run(unsigned number, CallBundle bundle, CardStream& stream);
  int run_there(unsigned number, std::span<const vm::DeviceCall> bundle, void* stream, std::span<vm::EndedCall> ended,
                std::size_t& made);
  void end_taken(unsigned number, const vm::DeviceBatch& batch);
  std::deque<GivenBatch>::iterator next_for(unsigned number);
  void put_back(vm::DeviceBatch batch);
  void put_back(std::span<const vm::DeviceCall> calls_of_bundle);
  void note_lack_of_room(unsigned number, const CudaKernel& kernel, int error);
  void lose_all();
  void submit(vm::DeviceBatch batch);
  void submit(vm::DeviceCall call);

 private:
  std::string start_threads();
};

}  // namespace raddle::gpu
