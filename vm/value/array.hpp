#pragma once
// Arrays: keys to futures, many writers, closed when the last writer has released it.
//
// Three forms, chosen by how an array is made and by its keys:
//   packed   numbers with keys 0..n-1 in a Buffer: made whole and closed at once (ranges, library results), or
//            written by index launches (Note [Promises])
//   table    int keys 0..2^28-1 that lie densely: reads are lock-free, inserts lock once in 256 elements; 256 numbers
//            that come at once lie there unboxed (element_table.hpp)
//   keyed    all other keys: a hash map in shards (keyed_elements.hpp)
// The last two stand side by side in one array. Of an array that is only reduced (its sum, say), numbers that come 256
// at once are not kept: only what they come to (keep_reductions()).
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vm/value/buffer.hpp"
#include "vm/value/chunk_reductions.hpp"
#include "vm/value/element_table.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/future.hpp"
#include "vm/value/made_once.hpp"
#include "vm/value/open_numbers.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

class KeyedElements;

class alignas(64) Array final : public HeapObject {
 public:
  /// An open array. @param writers  0: closed at once (empty)
  /// @param name, place  of the variable, for messages
  explicit Array(std::int32_t writers, std::string_view name = {}, Place place = {});
  ~Array() override;

  // ---- made whole, closed
  static Ref<Array> dense(std::vector<Value> elements);                   ///< keys 0..n-1
  static Ref<Array> keyed(std::vector<std::pair<Value, Value>> entries);  ///< later entries of a key are ignored
  static Ref<Array> packed_of(std::vector<std::int64_t> elements);        ///< keys 0..n-1
  static Ref<Array> packed_of(std::vector<double> elements);
  static Ref<Array> packed_of(Buffer::Owner elements);  ///< takes them as they lie there

  // ---- reading. Any thread
  /// Elements inserted so far (also those whose value is still to come); final once the last writer has released it.
  /// Counts them at the first call after that; at each call before, or if they are few.
  std::size_t size() const;
  /// The value if the element is set (or failed: a Failure), else none.
  Value get(const Value& key) const;
  /// The word of leaf_abi.hpp of a number. @return false: it is not there, is of another kind, or get() is to be asked
  bool find_number(std::int64_t key, ValueKind kind, std::int64_t& word) const {
    std::uint64_t bits;
    const Element* element = key >= 0 && key < ElementTable::limit ? table_.find(key) : nullptr;
    if (!element || !element->holds(kind, bits)) return find_stored(key, kind, word);
    word = static_cast<std::int64_t>(bits);
    return true;
  }
  /// Elements around a key, for who looks for many: what is not among them, or lies outside, only the other functions
  /// know.
  ElementTable::Part part(std::int64_t key) const {
    return key >= 0 && key < ElementTable::limit ? table_.part(key) : ElementTable::Part{};
  }
  /// There is an element for the key, and nothing in it yet. False says nothing.
  bool awaits(std::int64_t key) const {
    const Element* element = key >= 0 && key < ElementTable::limit ? table_.find(key) : nullptr;
    return element && !element->is_resolved();
  }
  /// The array that is an element, if it is there: without counting a reference, valid as long as this one. Else null.
  Array* nested(const Value& key) const {
    std::uint64_t bits;
    const Element* element = find(key);
    if (!element || !element->holds(ValueKind::array, bits)) return nullptr;
    return static_cast<Array*>(reinterpret_cast<HeapObject*>(bits));
  }
  /// Inserted so far; final once closed.
  bool contains(const Value& key) const;
  /// The future of an element, a placeholder if it is not inserted yet; valid as long as the array.
  /// @return nullptr if the array is closed and has no such element, or has a number there (get() answers for those)
  Future* element(const Value& key);
  /// Resolved when no writer is left.
  Future& closed() { return closed_; }
  bool is_closed() const { return closed_.is_resolved(); }
  /// Closed, and every writer has written what it was to write.
  bool is_complete() const { return is_closed() && !closed_.is_failed(); }
  /// Closed arrays. Ints in increasing order, then other keys sorted. `value` is none where it is not set yet.
  void for_each(const std::function<void(const Value& key, const Value& value)>& visit) const;
  /// Complete arrays of numbers, in the order of for_each: runs of `count` elements, as in a Buffer, that lie one after
  /// the other.
  void for_each_run(const std::function<void(const void* numbers, std::size_t count)>& visit) const;
  /// Complete arrays of ints (T = std::int64_t) or of floats (double): what their elements come to. Blocks are those of
  /// the keys that are equal but for their last eight bits, so that it does not matter in which form they lie here;
  /// what has no such keys follows, in the order of for_each.
  template <typename T>
  Reduction<T> reduce(bool has_deviation = true) const;
  /// Closed arrays: the futures of inserted elements that have no value yet, or one that is no number. Any order.
  void for_each_future(const std::function<void(Future&)>& visit) const;
  /// Contiguous elements, as in a Buffer, of a complete array with keys 0..n-1, all set and of
  /// one numeric kind; made at the first call and kept. @return nullptr if it is not so (also for n = 0, count = 0)
  const void* packed(std::size_t& count);
  /// The same with its kind.
  Buffer* packed_numbers();
  /// What lies packed is about to be read, where memory has a limit (Buffer::use_if_small).
  void use_packed() const {
    if (const Buffer* const packed = find_packed()) packed->use_if_small();
  }
  /// What packed_numbers() would give, if that was made already.
  Buffer* find_packed() const {
    const Rest* rest = find_rest();
    return rest ? rest->packed.load(std::memory_order_acquire) : nullptr;
  }
  /// As packed, and true for an empty array.
  bool is_packable(std::size_t& count);
  /// An element without a value that has kept the array from being packed when it was last tried; null if there is none
  /// any more. Spares who tries again and again a walk over the array.
  Future* unset_element() const;
  /// Why a key is not there once the array is closed: its own failure, if a writer failed.
  Ref<Failure> missing(const Value& key) const;

  // ---- filled by index launches: see Note [Promises]
  /// Launches, and single elements beside them, are to write the numbers 0..count-1: a dense array. Before anybody else
  /// sees the array.
  void expect_numbers(ValueKind kind, std::size_t count);
  /// Says that the caller, who holds the only writer, is about to write the numbers 0..count-1, each once, and nothing
  /// else. @return false: others may write, there is something already, or nothing is kept of single elements
  bool promise_numbers(ValueKind kind, std::size_t count);
  /// Says that the caller is about to write so many of the numbers that are expected.
  /// @param is_each_once  it can not write one of them twice
  void promise_part(std::size_t count, bool is_each_once, WakeList& wake);
  bool is_promised() const {
    const OpenNumbers* const numbers = this->numbers();
    return numbers && numbers->is_promised();
  }
  /// Says that the caller may promise numbers, and writes nothing else, once it has what it waits for: if it holds the
  /// only writer, and there is nothing yet.
  void announce_numbers() {
    if (is_still_empty()) rest().is_announced.store(true, std::memory_order_release);
  }
  /// It has promised them, or is not to.
  void settle_announced(WakeList& wake) {
    if (announced()) rest().settled.set(Value::of_void(), wake);
  }
  /// Resolved when it is known whether they are promised; null: it is.
  Future* announced() const {
    const Rest* rest = find_rest();
    const bool is_open = rest && rest->is_announced.load(std::memory_order_acquire) && !rest->settled.is_resolved();
    return is_open ? &this->rest().settled : nullptr;
  }
  /// Where the numbers are that launches write; null: there are none of these.
  OpenNumbers* numbers() const {
    const Rest* rest = find_rest();
    // seq_cst: see Note [Promises]; a plain load on x86
    return rest ? rest->numbers.load(std::memory_order_seq_cst) : nullptr;
  }
  /// Claimed numbers lie in numbers() now: those who wait for them are told.
  void tell_written(const NumberRows& rows, WakeList& wake);

  // ---- writing. By whoever holds a writer
  /// Nobody will ask for single elements, nor for their order: only size(), reduce(), for_each_future() and closed()
  /// may be used, and every key is written once. Before anybody else sees the array.
  /// @param has_deviation  false: nor for the deviation
  void keep_reductions(bool has_deviation) { rest().reductions = std::make_unique<Reductions>(has_deviation); }
  bool keeps_reductions() const { return reductions() != nullptr; }
  /// @pre keeps_reductions()
  bool keeps_deviation() const { return reductions()->has_deviation; }
  /// Instead of insert_numbers(): inserts all those elements. @pre keeps_reductions()
  void insert_reduced(const ChunkReductions& chunks);
  /// Inserts numbers with keys from `first` on, each of which is written once. Which of them are left, to be inserted
  /// one by one, is appended to `rest`.
  void insert_run(std::int64_t first, const NumberRun& numbers, std::vector<std::int64_t>& rest, WakeList& wake);
  /// Marks `key` as inserted. @return its future, to be set by the caller; nullptr if it is inserted already
  Future* insert(const Value& key) {
    if (has_numbers_ && !claim(key)) return nullptr;
    Element* const element = locate(key);
    return element && element->insert() ? element : nullptr;
  }
  /// Inserts an element with its value. @return false, and does nothing, if it is inserted already
  bool insert(const Value& key, Value value, WakeList& wake) {
    if (has_numbers_) return insert_number(key, std::move(value), wake);
    return insert_in_table(key, std::move(value), wake);
  }
  /// Where insert() puts the value, as long as the array; null: that is not known yet. Makes memory for small keys
  /// only, as it does not know which others will be written with it.
  Element* place_of(const Value& key) {
    if (has_numbers_) return nullptr;
    Element* const element = find_in_table(key);
    const bool is_small = in_table(key) && key.as_int() < ElementTable::small_limit;
    return element || !is_small ? element : make_element(key);
  }
  /// Inserts the elements `first` to first + 255 with their values; takes them over. @return false, and does nothing,
  /// if one of them has been inserted or read already
  /// @pre has_number_chunk(first), not keeps_reductions()
  bool insert_numbers(std::int64_t first, NumberChunk::Owner& numbers);
  /// Where insert_numbers can insert.
  bool has_number_chunk(std::int64_t first) const {
    return !has_numbers_ && first >= ElementTable::small_limit && first % NumberChunk::size == 0 &&
           (keeps_reductions() || first <= ElementTable::limit - NumberChunk::size);
  }
  /// The nested array at `key`, if row() has made it: without counting a reference. Else null.
  Array* made_row(const Value& key) const {
    std::uint64_t bits;
    const Element* element = find(key);
    return element && element->holds_row(bits) ? static_cast<Array*>(reinterpret_cast<HeapObject*>(bits)) : nullptr;
  }
  /// The same, made if absent; it closes with this one. Null if something else was inserted there, another array, too.
  Array* row(const Value& key, WakeList& wake);
  /// The same for an array of bags.
  Ref<Bag> bag_row(const Value& key, WakeList& wake);
  void add_writers(std::int32_t count) { writers_.fetch_add(count, std::memory_order_relaxed); }  // a writer is held
  /// A writer could not write: the array and its rows will close with the first such failure. Then it is released.
  void fail(const Value& failure) {
    WakeList nobody;
    rest().failure.set(failure, nobody);
  }
  /// Closes the array when none is left: readers of absent elements get a failure.
  void release_writers(std::int32_t count, WakeList& wake);

  /// Of the variable; of a row as messages name it: `a[3]`. Empty: it has none.
  std::string name() const;
  Place place() const;  ///< of its declaration; `end` is 0: it has none
  /// Its elements are those of a dense array, in row-major order: messages name them by all their indices. Before
  /// anybody else sees the array. @pre there is memory for so many
  void set_extents(std::vector<std::int64_t> extents) { rest().extents = std::move(extents); }
  /// It has failed, as it was closed without some of the elements that its extents say. Nobody has told of that yet.
  bool lacks_elements() const { return is_closed() && find_rest() && find_rest()->lacks_elements; }
  /// They live as long as the array. Empty: of a growing array.
  std::span<const std::int64_t> extents() const;
  /// An element likewise: `a[3]`, `a["x"][3]`, `a[1, 3]`.
  std::string element_name(const Value& key) const;
  /// The array that made this one as a row and closes it; null for others, and once it is closed.
  Array* parent() const { return family_ ? family_->array.load(std::memory_order_acquire) : nullptr; }

 private:
  static constexpr std::size_t uncounted = ~std::size_t{0};
  static constexpr std::size_t counted_each_time = 16;  ///< so few elements need no memory for their number
  struct Reductions {
    explicit Reductions(bool deviation) : has_deviation(deviation) {}
    const bool has_deviation;
    std::mutex mutex;  ///< guards `all`
    ChunkReductions all;
  };

  static bool in_table(const Value& key) {
    return key.kind() == ValueKind::int_ && key.as_int() >= 0 && key.as_int() < ElementTable::limit;
  }
  KeyedElements& keyed_elements();
  Element* find_in_table(const Value& key) const {
    Element* const element = in_table(key) ? table_.find(key.as_int()) : nullptr;
    // small keys are never outside: who writes one is spared a look, which would fetch its cache line twice
    return element && (key.as_int() < ElementTable::small_limit || !element->is_outside()) ? element : nullptr;
  }
  // null if there is no memory for it, or a number
  Element* find(const Value& key) const {
    Element* const element = find_in_table(key);
    return element ? element : find_keyed(key);
  }
  // makes the memory; null: there is a number
  Element* locate(const Value& key) {
    Element* const element = find_in_table(key);
    return element ? element : make_element(key);
  }
  Element* find_keyed(const Value& key) const;
  Element* make_element(const Value& key);  // @pre not find_in_table(key)
  NumberRun find_numbers(const Value& key) const {
    return in_table(key) ? table_.find_number(key.as_int()) : NumberRun{ValueKind::none, nullptr, 0};
  }
  // awaited and inserted ones, sorted by KeyLess, with the key and the mark; numbers in runs
  template <typename Visit, typename VisitNumbers>
  void visit_elements(const Visit& visit, const VisitNumbers& visit_numbers) const;
  // likewise, not sorted; locks may be held, so it only looks
  template <typename Visit, typename VisitNumbers>
  void visit_in_any_order(const Visit& visit, const VisitNumbers& visit_numbers) const;
  static void no_numbers(std::int64_t, const NumberRun&) {}
  Buffer::Owner pack();
  template <typename T>
  static Ref<Array> packed_copy(ValueKind kind, const std::vector<T>& elements);
  /// A number that lies in a buffer.
  bool find_stored(std::int64_t key, ValueKind kind, std::int64_t& word) const;
  bool has_number(const Value& key) const {
    const OpenNumbers* const numbers = this->numbers();
    return numbers && key.kind() == ValueKind::int_ && numbers->is_written(key.as_int());
  }
  /// Whoever asks holds the only writer, nothing is there, and single elements are kept.
  bool is_still_empty() const;
  OpenNumbers& open_numbers() const {
    return *find_rest()->numbers.load(std::memory_order_relaxed);
  }  // if has_numbers_
  void close_numbers(OpenNumbers& numbers, WakeList& wake);
  void take_late_ones(OpenNumbers& numbers);
  void fail_if_incomplete();  // by who closes it
  bool claim(const Value& key);
  bool insert_number(const Value& key, Value value, WakeList& wake);
  bool insert_in_table(const Value& key, Value value, WakeList& wake) {
    Element* const element = locate(key);
    return element && element->insert(std::move(value), wake);
  }

  /// What the rows of an array have in common. Owned by the array and, once that is closed, by each of them: until
  /// then the array owns the rows, and so many references need not be counted one by one.
  class Family final : public HeapObject {
   public:
    Family(Array& array, std::string name, Place place) : array(&array), name(std::move(name)), place(place) {}
    std::atomic<Array*> array;  ///< null once it is closed
    const std::string name;     ///< of the array
    const Place place;
  };
  /// What small arrays mostly do without.
  struct Rest {
    std::string name;
    Place place;
    std::vector<std::int64_t> extents;           ///< see set_extents()
    bool lacks_elements = false;                 ///< by who closes the array, before that is seen
    Future failure;                              ///< of the first writer that failed; looked at when no writer is left
    std::atomic<Family*> rows{nullptr};          ///< made once; null: there are none
    std::atomic<bool> has_bags{false};           ///< likewise made here, for bag_row()
    std::unique_ptr<Reductions> reductions;      ///< null: all is kept
    std::atomic<KeyedElements*> keyed{nullptr};  ///< made once
    std::atomic<Buffer*> packed{nullptr};        ///< made once; of a kept promise its storage
    std::atomic<OpenNumbers*> numbers{nullptr};  ///< set by who holds the only writer (seq_cst)
    std::atomic<bool> is_announced{false};       ///< by who holds the only writer, before `settled` is set
    Future settled;                              ///< see announce_numbers()
    std::atomic<Future*> unset{nullptr};         ///< a hint, see unset_element()
    std::atomic<std::size_t> count{uncounted};   ///< by whoever counts a closed array; all write the same
    std::atomic<bool> is_never_packed{false};    ///< complete, and its keys or values can not be packed
    ~Rest();
  };
  const Rest* find_rest() const { return rest_.load(std::memory_order_acquire); }
  Rest& rest() const { return made_once(rest_); }
  Reductions* reductions() const {
    const Rest* rest = find_rest();
    return rest ? rest->reductions.get() : nullptr;
  }
  std::string index_text(const Value& key) const;  // what stands between the brackets
  Family& family();                                // of its rows
  void share_family(std::uint32_t row_count);
  std::uint32_t count_rows() const;

  // Two cache lines, of which the second one holds the first elements: who writes or awaits them does not disturb
  // those who look for others, or count writers. Arrays with few elements are rows of others, mostly, and many.
  static constexpr std::uint32_t no_row_key = ~std::uint32_t{0};
  std::atomic<std::int32_t> writers_;
  Future closed_;
  std::atomic<bool> closing_{false};      // see Note [Closing]
  std::atomic<bool> has_awaited_{false};  // see Note [Closing]
  bool has_numbers_ = false;              // by who holds the only writer; writers look
  std::uint32_t row_key_ = no_row_key;    // of a row, if it is such a number; else its name is in `rest`
  Family* family_ = nullptr;              // of a row
  mutable std::atomic<Rest*> rest_{nullptr};
  ElementTable table_;
};

// Note [Closing]. An element that is read before it is inserted must fail if the array closes without it. A reader may
// come just while the array closes:
//   reader   sets has_awaited_, marks the element awaited (or finds the mark), then loads closing_
//   closer   sets closing_, then loads has_awaited_; if it is set, it looks at all marks and fails the awaited
// All are seq_cst. (The mark lies in the element's word; inserting it with its value is one step.) A reader that loads
// closing_ as false precedes the closer's store, so the closer sees the mark, and has_awaited_, which was set before it
// by whoever made the mark. A reader that loads true looks at the mark once more: all inserts precede the closer's
// store. If it is still not inserted, the reader says itself that the element is missing. The closer may have failed
// the future too: both give the same answer.

// Note [Promises]. Index launches mostly write all elements of an array, 0 to n - 1: one launch those of a growing
// array, one or several those of a dense one, whose extents say from the start how many there are (expect_numbers).
// Then they are written into one buffer (OpenNumbers), and the array is packed from birth. Who is about to write some
// claims them first, so that an element which is written twice is found (one launch alone writes none twice); single
// elements that are numbers lie there, too. Who reads an element that is there gets it from the buffer; who comes
// before it waits at an element of the table, as ever:
//   reader   sets has_awaited_, marks the element awaited, then looks at the number's bit
//   writer   writes the numbers, sets their bits, then loads has_awaited_; if it is set, it looks at the marks of those
//            keys and sets what is awaited
// Of a chunk of keys the writer looks first, under the mutex of KeyedElements, which have elements: one that is made
// after that look is made under the same mutex, so that its reader sees the bit.
// All are seq_cst, as are the loads of the pointers to the numbers and to their bits: either the reader sees the bit,
// or the writer the mark. (The reader has published the element's place in the table before the mark.)
//
// A launch that begins promises what it is to write if it has all that it needs, or waits for promised arrays only.
// Once all numbers of an array are promised a launch that needs it may wait for its closing, as nobody waits in a
// circle: each promise was made when all that it rests on was there or promised. Until then it is announced: a launch
// that needs it waits until that is settled, as it is when all is promised, when one of the launches begins without a
// promise, or when the array closes. (A growing array is announced by a launch that waits for a variable without which
// it gives no result at all.) Should all that is left of a run wait in such a circle, the run sees that nothing goes on
// and has the launches begin, and elements are waited for one by one. So the closer finds either all bits set, and then
// the buffer is the array; or it puts what the buffer has into the table.

inline Array& Value::as_array() const { return *static_cast<Array*>(object()); }

}  // namespace raddle::vm
