#include "vm/foreign/tcl_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "vm/foreign/message.hpp"
#include "vm/foreign/tcl_interpreter.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

namespace {

constexpr int answer_fd = 3;
constexpr int lowest_own_fd = 64;  // packages may count on the first ones

/// Not inherited by what Tcl starts. @return -1: there is no such descriptor
int moved_away(int fd) {
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest_own_fd);
  close(fd);
  return moved;
}

class Connection {
 public:
  /// Standard input becomes empty, as that of programs is.
  Connection() : requests_(moved_away(STDIN_FILENO)), answers_(moved_away(answer_fd)) {
    static_cast<void>(!open("/dev/null", O_RDONLY));  // gets the number of standard input
  }
  /// @return none: there are no more
  std::optional<std::string> next() const {
    std::uint64_t length = 0;
    if (!read_all(reinterpret_cast<char*>(&length), sizeof length)) return std::nullopt;
    std::string request(length, '\0');
    if (!read_all(request.data(), request.size())) return std::nullopt;
    return request;
  }
  bool answer(const std::string& bytes) const {
    const std::uint64_t length = bytes.size();
    return write_all(answers_, {reinterpret_cast<const char*>(&length), sizeof length}) == 0 &&
           write_all(answers_, bytes) == 0;
  }

 private:
  bool read_all(char* bytes, std::size_t count) const {
    for (std::size_t done = 0; done < count;) {
      const ssize_t got = read(requests_, bytes + done, count - done);
      if (got == 0 || (got < 0 && errno != EINTR)) return false;
      if (got > 0) done += static_cast<std::size_t>(got);
    }
    return true;
  }
  const int requests_, answers_;
};

}  // namespace

int serve_tcl(const char* workers) {
  const Connection connection;
  const auto run_code = [&connection](const std::string& request) {
    using Outcome = std::expected<std::string, std::string>;
    if (!connection.answer(request)) _exit(0);
    const auto done = connection.next();
    if (!done) _exit(0);  // the run has ended
    MessageReader reader(*done);
    const bool is_ours = reader.letter() == 'd', is_good = reader.number() != 0;
    std::string text(reader.text());
    return is_ours && is_good ? Outcome(std::move(text)) : std::unexpected(std::move(text));
  };
  const char* const rank = std::getenv("ADLB_RANK_SELF");
  auto interpreter = TclInterpreter::make(rank == nullptr ? 0 : std::atoi(rank), std::atoi(workers), run_code);
  while (const auto request = connection.next()) {
    const auto results = interpreter ? (*interpreter)->call(*request)
                                     : TclInterpreter::TextOutcome(std::unexpected(interpreter.error()));
    if (interpreter) static_cast<void>((*interpreter)->run("flush stdout"));
    std::fflush(stdout);  // of packages in C
    std::string answer(1, results ? 'r' : 'e');
    if (results)
      answer += *results;
    else
      put(answer, results.error());
    if (!connection.answer(answer)) break;
  }
  _exit(0);
}

}  // namespace raddle::vm
