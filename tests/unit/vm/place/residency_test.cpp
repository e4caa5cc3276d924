#include "vm/place/residency.hpp"

#include <doctest/doctest.h>

#include <string>

#include "vm/place/policy.hpp"

namespace raddle::vm {
namespace {

constexpr Links host_links{.to_device = 1'000'000'000, .to_host = 500'000'000};
constexpr Links peer_links{.to_device = 1'000'000'000, .to_host = 500'000'000, .between_devices = 2'000'000'000};

PlacedTask task_of(std::vector<DataId> operands, std::vector<DataId> writes) {
  const auto reads = static_cast<std::uint32_t>(operands.size());
  return {.operands = std::move(operands), .read_count = reads, .writes = std::move(writes)};
}

void load(Residency& copies, DeviceId device, DataId data) {
  const Source source = *copies.source(data, device);
  copies.begin_load(device, data, source);
  copies.end_load(device, data, source);
}

void run(Residency& copies, DeviceId device, const PlacedTask& task) {
  copies.request(device, 0, task);
  copies.start(device, 0, task);
  copies.finish(device, task);
}

std::vector<DataId> evictable(const Residency& copies, DeviceId device) {
  std::vector<DataId> found;
  for (DataId data = copies.first_evictable(device); data != raddle::vm::no_datum;
       data = copies.next_evictable(device, data))
    found.push_back(data);
  return found;
}

/// Writes down what it is told.
class RecordingPolicy final : public Policy {
 public:
  using Policy::Policy;
  void released(std::span<const TaskId>, std::optional<DeviceId>, std::int64_t) override {}
  std::optional<TaskId> next(DeviceId) override { return std::nullopt; }
  void came(DeviceId device, DataId data) override { note("came", device, data); }
  void went(DeviceId device, DataId data) override { note("went", device, data); }
  void dropped(DeviceId device, DataId data) override { note("dropped", device, data); }
  std::string told;

 private:
  void note(const char* what, DeviceId device, DataId data) {
    told += std::string(what) + " " + std::to_string(device) + ":" + std::to_string(data) + "\n";
  }
};

}  // namespace

TEST_CASE("a transfer takes its latency and whole nanoseconds") {
  CHECK(host_links.transfer_ns(1000, host_links.to_device) == 1000);
  CHECK(Links{.to_device = 3'000'000'000, .to_host = 1, .latency_ns = 7}.transfer_ns(10, 3'000'000'000) == 7 + 4);
  CHECK(host_links.transfer_ns(std::int64_t{1} << 40, 1'000'000'000) == std::int64_t{1} << 40);
}

TEST_CASE("a load takes memory from its start, and the least recently used copy is first to go") {
  Residency copies({100, 200, 300}, 1, 1000, host_links);
  load(copies, 0, 1);
  load(copies, 0, 0);
  copies.begin_load(0, 2, *copies.source(2, 0));
  CHECK(copies.used_bytes(0) == 600);
  CHECK(copies.state(0, 2) == CopyState::loading);
  CHECK(evictable(copies, 0) == std::vector<DataId>{1, 0});
  run(copies, 0, task_of({1}, {}));
  CHECK(evictable(copies, 0) == std::vector<DataId>{0, 1});
  copies.drop(0, 0);
  CHECK(copies.used_bytes(0) == 500);
  CHECK(copies.unused_loads() == 1);
}

TEST_CASE("operands of a running task stay") {
  Residency copies({100, 100}, 1, 1000, host_links);
  load(copies, 0, 0);
  load(copies, 0, 1);
  const PlacedTask task = task_of({0}, {});
  copies.request(0, 5, task);
  CHECK(copies.task_buffer(0).front() == 5);
  CHECK(evictable(copies, 0) == std::vector<DataId>{0, 1});
  copies.start(0, 5, task);
  CHECK(copies.task_buffer(0).empty());
  CHECK(evictable(copies, 0) == std::vector<DataId>{1});
  copies.finish(0, task);
  CHECK(evictable(copies, 0) == std::vector<DataId>{1, 0});
}

TEST_CASE("what a task writes is valid there only, until it is written back") {
  Residency copies({100}, 2, 1000, host_links);
  load(copies, 0, 0);
  load(copies, 1, 0);
  run(copies, 1, task_of({0}, {0}));
  CHECK_FALSE(copies.is_present(0, 0));
  CHECK_FALSE(copies.is_on_host(0));
  CHECK(copies.is_dirty(1, 0));
  CHECK(copies.owner(0) == DeviceId{1});
  CHECK_FALSE(copies.source(0, 0));
  CHECK(copies.transfer_ns(0, 0) == 200 + 100);
  copies.begin_write_back(1, 0);
  CHECK(copies.used_bytes(1) == 100);
  CHECK(copies.leaving_bytes(1) == 100);
  CHECK_FALSE(copies.is_present(1, 0));
  CHECK_FALSE(copies.is_on_host(0));
  copies.end_write_back(1, 0);
  CHECK(copies.used_bytes(1) == 0);
  CHECK(copies.is_on_host(0));
}

TEST_CASE("a copy to the host pins the device's, which is clean then") {
  Residency copies({100}, 2, 1000, host_links);
  load(copies, 0, 0);
  run(copies, 0, task_of({0}, {0}));
  copies.begin_copy_to_host(0, 0);
  CHECK(copies.is_copied_to_host(0, 0));
  CHECK(evictable(copies, 0).empty());
  copies.end_copy_to_host(0, 0);
  CHECK_FALSE(copies.is_dirty(0, 0));
  CHECK(copies.dirty_copies() == 0);
  CHECK(evictable(copies, 0) == std::vector<DataId>{0});
}

TEST_CASE("the fastest source is taken, of equal ones the host, then the first device") {
  Residency copies({100}, 3, 1000, peer_links);
  CHECK(copies.source(0, 2)->transfer_ns == 100);
  load(copies, 1, 0);
  CHECK(copies.source(0, 2)->device == DeviceId{1});
  CHECK(copies.transfer_ns(0, 2) == 50);
  load(copies, 0, 0);
  CHECK(copies.source(0, 2)->device == DeviceId{0});
  Links equal = peer_links;
  equal.between_devices = equal.to_device;
  Residency others({100}, 2, 1000, equal);
  load(others, 1, 0);
  CHECK_FALSE(others.source(0, 0)->device);
}

TEST_CASE("a policy hears when a datum comes near a device, and when it is neither there nor requested any more") {
  Residency copies({100, 100}, 2, 1000, host_links);
  const PlacedTasks tasks;
  RecordingPolicy policy({.tasks = tasks, .residency = copies});
  copies.set_policy(policy);
  load(copies, 0, 0);
  const PlacedTask task = task_of({0, 1}, {});
  copies.request(0, 0, task);
  copies.drop(0, 0);
  CHECK(copies.is_near(0, 0));
  load(copies, 0, 0);
  load(copies, 0, 1);
  copies.start(0, 0, task);
  copies.finish(0, task);
  copies.drop(0, 0);
  CHECK(policy.told == "came 0:0\ncame 0:1\ndropped 0:0\nwent 0:0\ndropped 0:0\n");
}

}  // namespace raddle::vm
