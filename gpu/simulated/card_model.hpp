#pragma once
// What a GPU would take that is not there: a model with a clock of its own.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/memory/card_memory.hpp"
#include "vm/device/devices.hpp"
#include "vm/place/links.hpp"

namespace raddle::gpu {

/// A kind of card, as a model has it. Where its figures come from is in gpu/README.md.
struct CardModel {
  std::string_view name;   ///< as `--gpus simulated:NAME` has it
  std::string_view title;  ///< says that it is a model
  std::size_t memory_bytes = 0;
  std::int64_t lanes = 0;             ///< points under way at once
  double full_slowness = 0;           ///< how many times what a core of the host takes a lane does, when all are busy
  double lone_slowness = 0;           ///< the same of a lane that has the card for itself
  double bytes_of_memory_per_ns = 0;  ///< that kernels read and write
  double bytes_up_per_ns = 0;         ///< from pageable memory of the host
  double bytes_down_per_ns = 0;       ///< to it
  double bytes_between_per_ns = 0;    ///< from another card, by links of their own
  std::int64_t copy_ns = 0;           ///< of any copy, beside its bytes
  std::int64_t launch_ns = 0;         ///< of a launch, and the wait for its end
  std::int64_t open_ns = 0;           ///< driver, context and the first kernel
  std::int64_t load_ns = 0;           ///< that the driver takes for each kernel
};

std::span<const CardModel> card_models();
/// @return null: there is none of this name
const CardModel* card_model(std::string_view name);

/// Of a batch of points or a bundle of calls, which the host has computed.
struct ModelledWork {
  bool is_bundle = false;
  std::int64_t launches = 0;
  std::int64_t host_ns = 0;     ///< of processors, for all of it
  std::int64_t longest_ns = 0;  ///< what a lane takes at least, in a processor's time: a point of each launch
  vm::DeviceTraffic traffic{};
};

/// One thing after the other crosses it, or has it, in whatever order one asks: each as soon as there is a gap that is
/// long enough.
class ModelLink {
 public:
  /// @return when it begins, from_ns or later
  std::int64_t take(std::int64_t from_ns, std::int64_t ns);
  std::int64_t free_ns() const { return busy_.empty() ? 0 : busy_.rbegin()->second; }  ///< from then on

 private:
  std::map<std::int64_t, std::int64_t> busy_;  ///< begins and ends, in their order; none touches the next one
};

/// How a model's cards are connected.
struct ModelLinks {
  bool are_one_bus = false;  ///< all cards' copies to them are one after the other, and all copies from them
  bool have_peers = false;   ///< cards copy from each other: what comes to one is one after the other
};

/// The clock of a run whose devices are models. It goes as the host's does as long as devices have nothing under way.
/// Then it stands, however long the host takes to compute what is theirs, and is set to when they would have done. So
/// what workers compute while devices have something under way counts for nothing. A card copies to it, computes and
/// copies from it at once, each for one batch, and has so many bundles of calls at once as a GPU has threads for them;
/// what it copies ahead of them waits for its link only. Launches that leave lanes free run beside each other.
/// Threads: any.
class ModelClock {
 public:
  ModelClock(const CardModel& model, unsigned cards, const ModelLinks& links = {});
  const CardModel& model() const { return model_; }
  bool has_peers() const { return !links_between_.empty(); }
  /// Of the host and the cards, as policies take them.
  vm::Links links() const;

  /// Somebody wants the cards: from the first time on they are being opened.
  void open();
  /// @return when a kernel can run whose code has just come
  std::int64_t load_kernel();
  /// Something is given to the devices. @return when
  std::int64_t give();
  struct Taken {
    unsigned card = 0;
    std::int64_t now_ns = 0;
    std::int64_t bundle_ns = 0;  ///< a bundle of calls can begin there from then on
  };
  /// What was given is taken up. @param missing  by card, bytes that are to be copied there first; none: nowhere
  /// @return by which card: the one that will begin with it first, as far as one can say
  Taken take(std::span<const MissingBytes> missing = {});
  struct Passed {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  /// The cards, in the order in which they would ask for a bundle of calls.
  std::vector<unsigned> askers();
  /// The card takes up what was given.
  Taken take_on(unsigned card);
  /// Bytes of the host go there, as one copy. @param from_ns  as soon as the link is free from then on; a few bytes
  /// pass what is under way there
  Passed copy_up(unsigned card, std::int64_t from_ns, std::uint64_t bytes);
  /// The same from another card. @pre has_peers()
  Passed copy_between(unsigned card, std::int64_t from_ns, std::uint64_t bytes);
  /// It has been computed. @param card  which took it  @param from_ns  all of it is there, and can run, from then on
  /// @param given  how often give() was called for it
  struct Ended : Passed {
    std::int64_t computed_ns = 0;  ///< from begin_ns to here
    std::int64_t back_ns = 0;      ///< results cross the link from then on, until end_ns
  };
  Ended end(unsigned card, std::int64_t from_ns, const ModelledWork& work, std::int64_t given = 1);
  /// No card will take it.
  void drop();
  vm::RunPrediction prediction();
  /// A time of this clock, on the host's.
  std::int64_t on_host(std::int64_t ns) const { return begin_.time_since_epoch() / std::chrono::nanoseconds(1) + ns; }

 private:
  static constexpr std::size_t bundles_at_once = 4;
  struct Card {
    ModelLink lanes;                                             ///< while all are busy
    std::array<std::int64_t, bundles_at_once> bundles_end_ns{};  ///< of the last ones, in their order
    std::int64_t taken = 0;                                      ///< under way
    vm::DevicePrediction times;
  };
  std::size_t link_of(unsigned card) const { return links_up_.size() == 1 ? 0 : card; }
  std::int64_t begin_ns(unsigned card, const MissingBytes& missing) const;
  Taken taken_by(unsigned card);
  static std::int64_t bundle_ns(const Card& card);
  void go_on();
  void leave(std::int64_t given);

  const CardModel& model_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  ///< guards all below
  std::chrono::steady_clock::time_point read_ = begin_;
  std::int64_t now_ns_ = 0;
  std::int64_t open_ns_ = -1;  ///< when the cards are open; -1: nobody wants them
  std::int64_t under_way_ = 0;
  std::vector<Card> cards_;
  std::vector<ModelLink> links_up_, links_down_;  ///< by card, or one for all
  std::vector<ModelLink> links_between_;          ///< by the card that gets something; none: there are none
};

}  // namespace raddle::gpu
