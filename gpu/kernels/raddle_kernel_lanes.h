// The 32 lanes of a warp as threads of the host, for raddle_kernel.h with RADDLE_LANES: so a kernel does what it does
// on a GPU, and it can be seen whether that is what one lane does. One lane runs at a time, until it comes to a
// function of the warp, where the next one goes on: so what all lanes write is no race, and an order of lanes that a
// GPU may have is one that is tried.
#ifndef RADDLE_KERNEL_LANES_H
#define RADDLE_KERNEL_LANES_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace raddle_lanes {

/// What ends a call, as raddle::failure does.
struct Fault {
  const char* reason;
};

/// @param extent  of the array, or of one of its dimensions
inline void check_index(std::int64_t index, std::int64_t extent) {
  thread_local char text[96];
  if (index >= 0 && index < extent) return;
  std::snprintf(text, sizeof text, "an index is %lld where there are %lld", static_cast<long long>(index),
                static_cast<long long>(extent));
  throw Fault{text};
}

class Lanes {
 public:
  static constexpr int count = 32;

  /// Calls body() as each lane. @param backwards  the last lane comes first  @return what has gone wrong; "": nothing
  template <typename Body>
  static std::string run(bool backwards, const Body& body) {
    Lanes lanes(backwards);
    {
      std::vector<std::jthread> threads;
      try {
        while (threads.size() < count)
          threads.emplace_back(
              [&lanes, &body, lane = static_cast<int>(threads.size())] { lanes.run_lane(lane, body); });
      } catch (const std::system_error&) {
        lanes.keep("there are no threads for them, and whether it is one is not known");  // those that there are end
      }
      // each lane passes the turn on, so no other one is needed
      if (!threads.empty()) lanes.turns_[backwards ? threads.size() - 1 : 0].release();
    }
    return lanes.fault_;
  }

  static int lane() { return lane_; }
  static void sync() {
    if (inside_ != 0) throw Fault{"a function of the warp is called within another one"};
    ++syncs_;
    current_->check_ended();
    current_->pass_on();
    current_->await_turn();
    current_->check_ended();
  }
  /// What lane `lane() ^ mask` gives.
  static int exchanged(int word, int mask) {
    // lanes that are ahead write the other half: nobody is two exchanges behind
    std::vector<int>& words = current_->words_[exchanges_++ % 2];
    words[static_cast<std::size_t>(lane_)] = word;
    sync();
    return words[static_cast<std::size_t>(lane_ ^ mask)];
  }
  /// Around what a function of the warp calls.
  struct Inside {
    Inside() { ++inside_; }
    ~Inside() { --inside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };

 private:
  struct Abandoned {};
  static constexpr const char* uneven = "some lanes come to a function of the warp, and others do not";

  explicit Lanes(bool backwards) : step_(backwards ? count - 1 : 1) {}

  template <typename Body>
  void run_lane(int lane, const Body& body) {
    current_ = this;
    lane_ = lane;
    exchanges_ = syncs_ = 0;
    inside_ = 0;
    try {
      await_turn();
      body();
      if (ended_ != 0 && syncs_of_ended_ != syncs_) note(uneven);
    } catch (const Abandoned&) {
    } catch (const Fault& fault) {
      keep(fault.reason);
    } catch (const std::exception& thrown) {
      keep(thrown.what());
    } catch (...) {
      keep("it threw an exception of a type without a text");
    }
    syncs_of_ended_ = syncs_;
    ++ended_;
    pass_on();
  }

  void keep(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }
  void note(const char* fault) {
    keep(fault);
    throw Abandoned();
  }
  /// A lane that has ended comes to no more.
  void check_ended() {
    if (ended_ != 0 && syncs_of_ended_ < syncs_) note(uneven);
  }
  void await_turn() {
    turns_[lane_].acquire();
    if (!fault_.empty()) throw Abandoned();
  }
  /// To the next lane. Lanes end in the order of their turns, so those that have ended are the last ones to get it.
  void pass_on() { turns_[(lane_ + step_) % count].release(); }

  const int step_;
  struct Turn : std::binary_semaphore {
    Turn() : std::binary_semaphore(0) {}
  };
  Turn turns_[count];
  // who has the turn uses what follows
  std::vector<int> words_[2] = {std::vector<int>(count), std::vector<int>(count)};
  std::string fault_;
  int ended_ = 0;
  unsigned syncs_of_ended_ = 0;

  static inline thread_local Lanes* current_ = nullptr;
  static inline thread_local int lane_ = 0;
  static inline thread_local unsigned exchanges_ = 0, syncs_ = 0;
  static inline thread_local int inside_ = 0;
};

/// What a call has filled, and room for what lanes fill in its place.
class OutputCopies {
 public:
  /// @param words  of the call, which has been made by one lane
  OutputCopies(const std::uint64_t* words, std::size_t count) : of_one_(words), words_(words, words + count) {}
  OutputCopies(const OutputCopies&) = delete;
  OutputCopies& operator=(const OutputCopies&) = delete;

  /// @param word  where its address is, with the extents behind it, or itself  @param rank  0: it is no array
  template <typename T>
  void add(const char* name, std::size_t word, std::size_t rank) {
    std::size_t count = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) count *= static_cast<std::size_t>(words_[word + 1 + axis]);
    const T* one = reinterpret_cast<const T*>(&of_one_[word]);
    T* lanes = reinterpret_cast<T*>(&words_[word]);
    if (rank == 0) {
      words_[word] = 0;
    } else {
      one = reinterpret_cast<const T*>(of_one_[word]);
      std::vector<std::uint64_t>& room = rooms_.emplace_back((count * sizeof(T) + 7) / 8);
      lanes = reinterpret_cast<T*>(room.data());
      words_[word] = reinterpret_cast<std::uint64_t>(lanes);
    }
    compare_.push_back([=] { return difference_of(name, one, lanes, count, rank != 0); });
  }

  /// Of the call by lanes.
  std::uint64_t* words() { return words_.data(); }
  /// In words; "": there is none
  std::string difference() const {
    for (const auto& compare : compare_)
      if (std::string found = compare(); !found.empty()) return found;
    return "";
  }

 private:
  template <typename T>
  static std::string difference_of(const char* name, const T* one, const T* lanes, std::size_t count, bool is_array) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool are_nan = one[i] != one[i] && lanes[i] != lanes[i];
      if (are_nan || std::memcmp(&one[i], &lanes[i], sizeof(T)) == 0) continue;
      const std::string element = is_array ? "[" + std::to_string(i) + "]" : "";
      return "`" + (name + element) + "` is " + text_of(lanes[i]) + ", and " + text_of(one[i]) + " on workers";
    }
    return "";
  }
  template <typename T>
  static std::string text_of(T number) {
    char text[40];
    if constexpr (std::is_floating_point_v<T>)
      std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number));
    else
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>(number));
    return text;
  }

  const std::uint64_t* const of_one_;
  std::vector<std::uint64_t> words_;
  std::deque<std::vector<std::uint64_t>> rooms_;
  std::vector<std::function<std::string()>> compare_;
};

}  // namespace raddle_lanes

#endif
