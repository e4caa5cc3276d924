#include "vm/external/shell_command.hpp"

#include <doctest/doctest.h>

#include <string>

using raddle::vm::ProcessRequest;
using raddle::vm::shell_command;
using raddle::vm::shell_line;
using raddle::vm::whole_command;

namespace {

ProcessRequest request(std::vector<std::string> words) {
  ProcessRequest made;
  made.words = std::move(words);
  return made;
}

}  // namespace

TEST_CASE("words are quoted where a shell would read something else") {
  CHECK(shell_command(request({"run", "--alpha=0.5", "a/b.txt", "x,y"}), whole_command) ==
        "run --alpha=0.5 a/b.txt x,y");
  CHECK(shell_command(request({"run", "", "a b", "$HOME", "it's"}), whole_command) ==
        R"(run '' 'a b' '$HOME' 'it'\''s')");
  CHECK(shell_command(request({"run", "a\nb\t\x01"}), whole_command) == R"(run $'a\nb\t\001')");
}

TEST_CASE("redirections stand at the end") {
  ProcessRequest made = request({"run"});
  made.stdin_path = "in put";
  made.stdout_path = "out";
  made.stderr_path = "out";
  CHECK(shell_command(made, whole_command) == "run < 'in put' > out 2>&1");
  made.stderr_path = "err";
  CHECK(shell_command(made, whole_command) == "run < 'in put' > out 2> err");
}

TEST_CASE("what is left out is said, between two characters") {
  CHECK(shell_command(request({"run", "a", "b", "c", "d", "e"}), 8) == "run a b c ... (2 more words)");
  CHECK(shell_command(request({"run", "\xC3\xA4\xC3\xA4\xC3\xA4"}), 6) == "run \xC3\xA4... (4 more bytes)");
}

TEST_CASE("a line for the shell quotes what it must") {
  CHECK(shell_line({"run", "--a=1", "x y", "", "it's", "$(rm)"}) == "run --a=1 'x y' '' 'it'\\''s' '$(rm)'");
}
