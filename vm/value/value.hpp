#pragma once
// Values: what a future holds once it is set.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace raddle::vm {

enum class ValueKind : std::uint8_t {
  none,  ///< no value (an empty Value); never in a set future
  void_,
  int_,
  float_,
  boolean,
  int32,    ///< bits of an int
  float32,  ///< bits of a float: as_float() is right for both
  // heap objects, reference counted
  string,
  array,
  bag,
  structure,
  file,
  blob,
  updateable,
  failure,  ///< a Failure (vm/value/failure.hpp): what a failed future holds; travels like a value
};

/// Base of everything a Value refers to. Reference counted; the count is atomic: values cross workers.
class HeapObject {
 public:
  HeapObject() = default;
  HeapObject(const HeapObject&) = delete;
  HeapObject& operator=(const HeapObject&) = delete;
  void retain(std::uint32_t count = 1) const {
    references_.fetch_add(count, std::memory_order_relaxed);  // relaxed: the caller owns one already
  }
  void release() const {
    // acq_rel: the last owner must see all writes of the others before it destroys the object
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }

 protected:
  virtual ~HeapObject() = default;

 private:
  /// Deletes it; nested objects one after the other, however deep they nest.
  static void destroy(const HeapObject* object);
  mutable std::atomic<std::uint32_t> references_{1};
};

/// An owning pointer to a heap object.
template <typename T>
class Ref {
 public:
  Ref() = default;
  /// Takes over the caller's reference (a new object has one).
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  static Ref share(T* object) {
    if (object) object->retain();
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* give_up() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

class String final : public HeapObject {
 public:
  explicit String(std::string text) : text(std::move(text)) {}
  const std::string text;
};
class Blob final : public HeapObject {
 public:
  explicit Blob(std::string bytes) : bytes(std::move(bytes)) {}
  const std::string bytes;
};
class Array;       // vm/value/array.hpp
class Bag;         // vm/value/bag.hpp
class Structure;   // vm/value/structure.hpp
class File;        // vm/value/file.hpp
class Updateable;  // vm/value/updateable.hpp

/// A tagged value, 16 bytes. Copies share heap objects. Not itself thread-safe.
class Value {
 public:
  Value() = default;
  static Value of_void() { return Value(ValueKind::void_, 0); }
  static Value of(std::int64_t value) { return Value(ValueKind::int_, static_cast<std::uint64_t>(value)); }
  static Value of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return Value(ValueKind::float_, bits);
  }
  static Value of_int32(std::int32_t value) {
    return Value(ValueKind::int32, static_cast<std::uint64_t>(std::int64_t{value}));
  }
  static Value of_float32(float value) {
    Value made = of(static_cast<double>(value));
    made.kind_ = ValueKind::float32;
    return made;
  }
  static Value of(bool value) { return Value(ValueKind::boolean, value ? 1 : 0); }
  static Value of(std::string text) { return of_object(ValueKind::string, make_ref<String>(std::move(text))); }
  static Value of(const char*) = delete;
  static Value of_blob(std::string bytes) { return of_object(ValueKind::blob, make_ref<Blob>(std::move(bytes))); }
  /// @param kind  must be the kind of T
  template <typename T>
  static Value of_object(ValueKind kind, Ref<T> object) {
    return Value(kind, reinterpret_cast<std::uint64_t>(static_cast<HeapObject*>(object.give_up())));
  }

  Value(const Value& other) : kind_(other.kind_), bits_(other.bits_) {
    if (is_object()) object()->retain();
  }
  Value(Value&& other) noexcept : kind_(std::exchange(other.kind_, ValueKind::none)), bits_(other.bits_) {}
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~Value() {
    if (is_object()) object()->release();
  }

  ValueKind kind() const { return kind_; }
  explicit operator bool() const { return kind_ != ValueKind::none; }
  bool is_object() const { return kind_ >= ValueKind::string; }
  std::int64_t as_int() const { return static_cast<std::int64_t>(bits_); }
  double as_float() const {
    double value;
    std::memcpy(&value, &bits_, sizeof value);
    return value;
  }
  bool as_bool() const { return bits_ != 0; }
  const std::string& as_string() const { return static_cast<String*>(object())->text; }
  const std::string& as_bytes() const { return static_cast<Blob*>(object())->bytes; }
  Array& as_array() const;            // defined in vm/value/array.hpp
  Bag& as_bag() const;                // defined in vm/value/bag.hpp
  Structure& as_structure() const;    // defined in vm/value/structure.hpp
  File& as_file() const;              // defined in vm/value/file.hpp
  Updateable& as_updateable() const;  // defined in vm/value/updateable.hpp
  std::uint64_t bits() const { return bits_; }
  HeapObject* object() const { return reinterpret_cast<HeapObject*>(bits_); }
  /// Rebuilds a value from kind and bits, taking over one reference if it is an object. For futures only.
  static Value from_bits(ValueKind kind, std::uint64_t bits) { return Value(kind, bits); }
  /// Gives up ownership: the caller holds the reference now.
  std::uint64_t give_up_bits() {
    kind_ = ValueKind::none;
    return bits_;
  }

 private:
  Value(ValueKind kind, std::uint64_t bits) : kind_(kind), bits_(bits) {}
  ValueKind kind_ = ValueKind::none;
  std::uint64_t bits_ = 0;
};

}  // namespace raddle::vm
