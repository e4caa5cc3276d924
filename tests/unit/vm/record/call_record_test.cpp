#include "vm/record/call_record.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <fstream>

#include "tests/unit/fresh_folder.hpp"

using namespace raddle::vm;

namespace {

RecordedCall call_of(const CallRecord& record, const std::string& function, const std::string& input) {
  RecordedCall call{.key = {}, .function = function, .code = function + " 00\n", .inputs = "x\t" + input + "\n"};
  call.key = record.key_of(call, input);
  return call;
}

void keep(CallRecord& record, const std::string& function, const std::string& input, const std::string& results) {
  record.keep({.call = call_of(record, function, input), .results = results, .contents = {}, .duration_s = 0.5});
}

/// "": none.
std::string results_of(CallRecord& record, const std::string& function, const std::string& input) {
  const std::optional<CallRecord::Found> found = record.find(call_of(record, function, input));
  return found ? found->results : "";
}

/// Stacks of new threads are larger than all addresses, so that none can be started.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

}  // namespace

TEST_CASE("where no thread can be started to write, that is told, and nothing is kept") {
  const FreshFolder folder;
  CallRecord record("1");
  {
    const NoThreads none;
    keep(record, "f", "3", "nine");
  }
  keep(record, "f", "4", "sixteen");
  CHECK_FALSE(record.find(call_of(record, "f", "3")));
  CHECK_FALSE(record.find(call_of(record, "f", "4")));
  CHECK(record.problem() == "no thread could be started: resource temporarily unavailable");
}

TEST_CASE("results are found at once, and by later records") {
  const FreshFolder folder;
  {
    CallRecord record("1");
    CHECK_FALSE(record.find(call_of(record, "f", "3")));
    keep(record, "f", "3", "nine");
    CHECK(results_of(record, "f", "3") == "nine");
    CHECK_FALSE(record.find(call_of(record, "f", "4")));
    CHECK_FALSE(record.find(call_of(record, "g", "3")));
  }
  CallRecord later("1");
  CHECK(results_of(later, "f", "3") == "nine");
  CallRecord other_version("2");
  CHECK_FALSE(other_version.find(call_of(other_version, "f", "3")));
  CHECK_FALSE(later.problem());
}

TEST_CASE("without results of earlier runs, those of this one are found") {
  const FreshFolder folder;
  {
    CallRecord record("1");
    keep(record, "f", "3", "old");
  }
  CallRecord anew("1", /*takes_old=*/false);
  CHECK_FALSE(anew.find(call_of(anew, "f", "3")));
  keep(anew, "f", "3", "new");
  CHECK(results_of(anew, "f", "3") == "new");
}

TEST_CASE("a later result of an equal call replaces the earlier one") {
  const FreshFolder folder;
  for (const char* results : {"first", "second"}) {
    CallRecord record("1");
    keep(record, "f", "3", results);
  }
  CallRecord record("1");
  CHECK(results_of(record, "f", "3") == "second");
  CHECK(CallRecord::functions().at(0).calls == 1);
}

TEST_CASE("what is no database is made anew") {
  const FreshFolder folder;
  std::filesystem::create_directory(".raddle");
  std::ofstream(call_record_path) << std::string(5000, 'x');
  {
    CallRecord record("1");
    CHECK_FALSE(record.find(call_of(record, "f", "3")));
    keep(record, "f", "3", "nine");
  }
  CallRecord record("1");
  CHECK(results_of(record, "f", "3") == "nine");
}

TEST_CASE("nothing is made on disk where nothing is kept") {
  const FreshFolder folder;
  {
    CallRecord record("1");
    CHECK_FALSE(record.find(call_of(record, "f", "3")));
  }
  CHECK_FALSE(std::filesystem::exists(".raddle"));
  CHECK(CallRecord::functions().empty());
  CHECK(CallRecord::gc({.age_s = 0.0, .bytes = {}}) == 0);
}

TEST_CASE("gc leaves what was used last within the limits") {
  const FreshFolder folder;
  {
    CallRecord record("1");
    for (const char* input : {"1", "2", "3"}) keep(record, "f", input, std::string(1000, 'x'));
  }
  CHECK(CallRecord::gc({.age_s = 3600.0, .bytes = {}}) == 0);
  CHECK(CallRecord::gc({.age_s = {}, .bytes = 1'000'000}) == 0);
  CHECK(CallRecord::gc({.age_s = {}, .bytes = 2500}) == 1);
  CallRecord record("1");
  CHECK_FALSE(record.find(call_of(record, "f", "1")));
  CHECK(record.find(call_of(record, "f", "3")));
  CHECK(CallRecord::gc({.age_s = 0.0, .bytes = {}}) == 2);
}

TEST_CASE("a result is taken while the files are what they were that were read by name") {
  const FreshFolder folder;
  std::ofstream("model.sh") << "echo 1";
  KeptFiles files;
  const NamedFile script{.name = "./model.sh"}, tables{.name = "*.csv", .is_pattern = true};
  CallRecord record("1");
  record.keep({.call = call_of(record, "f", "3"),
               .results = "nine",
               .reads = {{script.name, version_of(files, script)}, {tables.name, version_of(files, tables)}},
               .contents = {}});
  const auto later = [] {
    CallRecord other("1");
    return results_of(other, "f", "3");
  };
  CHECK(results_of(record, "f", "3") == "nine");
  CHECK_FALSE(record.problem());  // it is written now
  CHECK(later() == "nine");
  std::ofstream("a.csv") << "1";
  CHECK(later().empty());
  std::filesystem::remove("a.csv");
  CHECK(later() == "nine");
  std::ofstream("model.sh") << "echo 2";
  CHECK(later().empty());
}
