#include "vm/place/residency.hpp"

#include <algorithm>

#include "vm/place/policy.hpp"

namespace raddle::vm {

Residency::Residency(const std::vector<std::int64_t>& bytes, unsigned devices, std::int64_t memory_bytes,
                     const Links& links)
    : devices_(devices), memory_bytes_(memory_bytes), links_(links), has_peers_(links.between_devices != 0) {
  for (const std::int64_t each : bytes) add(each);
}

DataId Residency::add(std::int64_t bytes) {
  const auto data = static_cast<DataId>(data_.size());
  data_.push_back(datum_of(bytes));
  for (Device& device : devices_) device.copies.emplace_back();
  if (policy_ != nullptr) policy_->added(data);
  return data;
}

void Residency::replace(DataId data, std::int64_t bytes) {
  for (DeviceId device = 0; device < device_count(); ++device)
    if (is_present(device, data)) drop(device, data);
  data_[data] = datum_of(bytes);
}

Residency::Datum Residency::datum_of(std::int64_t bytes) const {
  Datum datum;
  datum.bytes = bytes;
  datum.to_device_ns = links_.transfer_ns(bytes, links_.to_device);
  datum.to_host_ns = links_.transfer_ns(bytes, links_.to_host);
  if (has_peers_) datum.between_ns = links_.transfer_ns(bytes, links_.between_devices);
  return datum;
}

std::optional<DeviceId> Residency::owner(DataId data) const {
  const Datum& datum = data_[data];
  if (datum.is_on_host || datum.valid == 0) return std::nullopt;
  return static_cast<DeviceId>(std::countr_zero(datum.valid));
}

std::optional<Source> Residency::source(DataId data, DeviceId device) const {
  const Datum& datum = data_[data];
  const DeviceSet peers = has_peers_ ? datum.valid & ~set_of(device) : 0;
  if (datum.is_on_host && (peers == 0 || datum.to_device_ns <= datum.between_ns))
    return Source{.transfer_ns = datum.to_device_ns, .device = std::nullopt};
  if (peers == 0) return std::nullopt;
  return Source{.transfer_ns = datum.between_ns, .device = static_cast<DeviceId>(std::countr_zero(peers))};
}

std::int64_t Residency::transfer_ns(DataId data, DeviceId device) const {
  const std::optional<Source> fastest = source(data, device);
  return fastest ? fastest->transfer_ns : data_[data].to_host_ns + data_[data].to_device_ns;
}

std::uint64_t Residency::dirty_copies() const {
  std::uint64_t count = 0;
  for (const Device& device : devices_)
    count += static_cast<std::uint64_t>(std::ranges::count_if(device.copies, &Copy::is_dirty));
  return count;
}

DataId Residency::evictable_from(DeviceId device, DataId data) const {
  const std::vector<Copy>& copies = devices_[device].copies;
  while (data != no_datum && (copies[data].state != CopyState::valid || copies[data].pins != 0))
    data = copies[data].newer;
  return data;
}

void Residency::request(DeviceId device, TaskId id, const PlacedTask& task) {
  devices_[device].buffer.push_back(id);
  for (const DataId data : task.operands) {
    ++copy(device, data).requests;
    update_near(device, data);
  }
}

void Residency::start(DeviceId device, TaskId id, const PlacedTask& task) {
  std::vector<TaskId>& buffer = devices_[device].buffer;
  buffer.erase(std::ranges::find(buffer, id));
  for (const DataId data : task.operands) {
    Copy& operand = copy(device, data);
    --operand.requests;
    ++operand.pins;
    operand.is_unused = false;
    use(device, data);
  }
}

void Residency::finish(DeviceId device, const PlacedTask& task) {
  for (const DataId data : task.operands) --copy(device, data).pins;
  for (const DataId data : task.writes) write(device, data);
}

void Residency::write(DeviceId device, DataId data) {
  Datum& datum = data_[data];
  Copy& written = copy(device, data);
  written.version = ++datum.version;
  written.is_dirty = true;
  datum.is_on_host = false;
  set_state(device, data, CopyState::valid);
  for (DeviceId other = 0; other < device_count(); ++other)
    if (other != device && is_present(other, data)) drop(other, data);
}

void Residency::begin_load(DeviceId device, DataId data, const Source& source) {
  if (source.device) ++copy(*source.device, data).pins;
  devices_[device].used_bytes += bytes(data);
  set_state(device, data, CopyState::loading);
}

void Residency::end_load(DeviceId device, DataId data, const Source& source) {
  if (source.device) --copy(*source.device, data).pins;
  set_state(device, data, CopyState::valid);
  copy(device, data).version = data_[data].version;
  copy(device, data).is_unused = true;
  use(device, data);
}

void Residency::allocate(DeviceId device, DataId data) {
  devices_[device].used_bytes += bytes(data);
  set_state(device, data, CopyState::allocated);
}

void Residency::forget(DeviceId device, DataId data) {
  Copy& gone = copy(device, data);
  gone.is_dirty = gone.is_unused = false;
  unlist(device, data);
  set_state(device, data, CopyState::none);
  if (policy_ != nullptr) policy_->dropped(device, data);
}

void Residency::drop(DeviceId device, DataId data) {
  if (copy(device, data).is_unused) ++unused_loads_;
  devices_[device].used_bytes -= bytes(data);
  forget(device, data);
}

void Residency::begin_write_back(DeviceId device, DataId data) {
  copy(device, data).is_written_back = true;
  devices_[device].leaving_bytes += bytes(data);
  forget(device, data);
}

void Residency::end_write_back(DeviceId device, DataId data) {
  Copy& written = copy(device, data);
  written.is_written_back = false;
  devices_[device].leaving_bytes -= bytes(data);
  devices_[device].used_bytes -= bytes(data);
  if (written.version == data_[data].version) data_[data].is_on_host = true;  // else written elsewhere meanwhile
}

void Residency::begin_copy_to_host(DeviceId device, DataId data) {
  copy(device, data).is_copied_to_host = true;
  ++copy(device, data).pins;
}

void Residency::end_copy_to_host(DeviceId device, DataId data) {
  Copy& copied = copy(device, data);
  copied.is_copied_to_host = copied.is_dirty = false;
  --copied.pins;
  data_[data].is_on_host = true;
}

void Residency::set_state(DeviceId device, DataId data, CopyState state) {
  CopyState& before = copy(device, data).state;
  if (before == CopyState::none && state != CopyState::none) ++devices_[device].copy_count;
  if (before != CopyState::none && state == CopyState::none) --devices_[device].copy_count;
  before = state;
  DeviceSet& valid = data_[data].valid;
  valid = state == CopyState::valid ? valid | set_of(device) : valid & ~set_of(device);
  update_near(device, data);
}

void Residency::update_near(DeviceId device, DataId data) {
  const bool is = copy(device, data).state != CopyState::none || copy(device, data).requests != 0;
  if (is == is_near(device, data)) return;
  data_[data].near ^= set_of(device);
  if (policy_ == nullptr) return;
  if (is)
    policy_->came(device, data);
  else
    policy_->went(device, data);
}

void Residency::use(DeviceId device, DataId data) {
  unlist(device, data);
  Device& here = devices_[device];
  Copy& used = here.copies[data];
  used.is_listed = true;
  used.older = here.lru.newest;
  used.newer = no_datum;
  (used.older == no_datum ? here.lru.oldest : here.copies[used.older].newer) = data;
  here.lru.newest = data;
}

void Residency::unlist(DeviceId device, DataId data) {
  Device& here = devices_[device];
  Copy& listed = here.copies[data];
  if (!listed.is_listed) return;
  listed.is_listed = false;
  (listed.older == no_datum ? here.lru.oldest : here.copies[listed.older].newer) = listed.newer;
  (listed.newer == no_datum ? here.lru.newest : here.copies[listed.newer].older) = listed.older;
}

}  // namespace raddle::vm
