#include "vm/record/row_digest.hpp"

#include <atomic>
#include <span>

#include "vm/value/hash.hpp"

namespace raddle::vm {
namespace {

std::atomic<bool> is_damage_met{false};  // relaxed: it says nothing of anything else

constexpr std::size_t short_bytes = 64;

template <typename Word>
void append_word(std::string& text, Word word) {
  text.append(reinterpret_cast<const char*>(&word), sizeof word);
}

/// Types and lengths count, so that no two lists of values give one text.
void append_value(std::string& text, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  text += static_cast<char>(type);
  if (type == SQLITE_INTEGER) append_word(text, sqlite3_value_int64(value));
  if (type == SQLITE_FLOAT) append_word(text, sqlite3_value_double(value) + 0.0);  // SQLite makes 0.0 of -0.0
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return;
  const auto* const begin = static_cast<const char*>(sqlite3_value_blob(value));
  const std::string_view bytes(begin, static_cast<std::size_t>(sqlite3_value_bytes(value)));
  append_word(text, bytes.size());
  if (bytes.size() <= short_bytes)
    text += bytes;
  else
    append_word(text, hash(bytes));
}

std::int64_t digest_of(std::span<sqlite3_value*> values) {
  thread_local std::string text;
  text.clear();
  for (sqlite3_value* const value : values) append_value(text, value);
  return static_cast<std::int64_t>(hash(text).low);
}

void give_digest(sqlite3_context* context, int count, sqlite3_value** values) {
  sqlite3_result_int64(context, digest_of({values, static_cast<std::size_t>(count)}));
}

void give_is_intact(sqlite3_context* context, int count, sqlite3_value** values) {
  const std::span all(values, static_cast<std::size_t>(count));
  const bool is_intact = sqlite3_value_type(all.front()) == SQLITE_INTEGER &&
                         sqlite3_value_int64(all.front()) == digest_of(all.subspan(1));
  if (!is_intact) is_damage_met.store(true, std::memory_order_relaxed);
  sqlite3_result_int(context, is_intact ? 1 : 0);
}

void give_true(sqlite3_context* context, int, sqlite3_value**) { sqlite3_result_int(context, 1); }

void add_function(Database& database, const char* name, void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  constexpr int any_count = -1, flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  if (sqlite3_create_function_v2(database.handle(), name, any_count, flags, nullptr, function, nullptr, nullptr,
                                 nullptr) != SQLITE_OK)
    database.fail();
}

}  // namespace

void add_digest_functions(Database& database, Digests digests) {
  add_function(database, "digest", give_digest);
  add_function(database, "is_intact", digests == Digests::checked ? give_is_intact : give_true);
}

bool has_met_damage() { return is_damage_met.load(std::memory_order_relaxed); }

}  // namespace raddle::vm
