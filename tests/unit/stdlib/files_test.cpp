#include <filesystem>
#include <fstream>
#include <sstream>

#include "stdlib/native/script_arguments.hpp"
#include "tests/unit/stdlib/call.hpp"
#include "vm/value/file.hpp"

using raddle::test::call;
using raddle::test::call_overload;
using raddle::test::error;
using raddle::test::list;
using raddle::test::Outcome;
using raddle::test::real;
using raddle::test::result;
using raddle::test::shown;
using raddle::test::text;
using raddle::test::Value;
using raddle::test::whole;
using raddle::vm::File;

namespace {

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "raddle_test_XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data())); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return path + "/" + name; }
  std::string with(const char* name, const char* content) const {
    std::ofstream(*this / name) << content;
    return *this / name;
  }
};

Value new_file(std::string path) {
  return Value::of_object(raddle::vm::ValueKind::file, raddle::vm::make_ref<File>(std::move(path)));
}

}  // namespace

TEST_CASE("paths are cut as Tcl does") {
  const auto parts = [](const char* path) {
    return result("dirname_string", {text(path)}) + " " + result("basename_string", {text(path)}) + " " +
           result("rootname_string", {text(path)}) + " " + result("extension_string", {text(path)});
  };
  CHECK(parts("a/b.c") == "a b.c a/b .c");
  CHECK(parts("a") == ". a a ");
  CHECK(parts("/a") == "/ a /a ");
  CHECK(parts("/") == "/  / ");
  CHECK(parts("a.b/c") == "a.b c a.b/c ");
  CHECK(parts("a/.bashrc") == "a .bashrc a/ .bashrc");
  CHECK(parts("a.tar.gz") == ". a.tar.gz a.tar .gz");
  CHECK(parts("a//b/") == "a b a//b/ ");
}

TEST_CASE("read, write, lines, chunks") {
  Folder folder;
  const std::string path = folder / "new/deep/out.txt";
  CHECK(call_overload(0, "write", {new_file(path), text("a\nb\n")}).error == "");
  CHECK(result("read", {new_file(path)}) == "a\nb\n");
  CHECK(error("read", {new_file(folder / "none")}) ==
        "can not read `" + (folder / "none") + "`: no such file or directory");
  CHECK(call_overload(0, "write", {new_file(folder.path), text("a")}).error ==
        "can not write `" + folder.path + "`: is a directory");

  const Value file = File::existing(folder.with("lines", "# head\n one  # rest\n\n\r\ntwo\nx3"));
  CHECK(result("file_lines", {file, text("#")}) == "[one|two|x3]");
  CHECK(result("file_lines", {file, text("")}) == "[# head|one  # rest|two|x3]");
  CHECK(result("file_lines", {file, text("\\d")}) == "[# head|one  # rest|two|x]");
  const Value chunks = File::existing(folder.with("chunks", "a\n\nb # c\n----\nd\n----\n"));
  CHECK(result("file_chunks", {chunks, text("----"), text("#")}) == "[a\nb|d]");

  call_overload(0, "write_array_string_ordered", {new_file(path), list({text("x"), text("y")})});
  CHECK(result("read", {new_file(path)}) == "x\ny\n");
  call_overload(0, "write_array_string", {new_file(path), list({text("x"), text("y")}), whole(1)});
  CHECK(result("read", {new_file(path)}) == "0 x\n1 y\n");
}

TEST_CASE("what the file system knows") {
  Folder folder;
  const std::string b = folder.with("b.txt", "12345"), a = folder.with("a.txt", ""), c = folder.with("c.dat", "");
  CHECK(result("glob", {text((folder / "*.txt").c_str())}) == "[" + a + "|" + b + "]");
  CHECK(result("glob", {text((folder / "{c,a}.*").c_str())}) == "[" + c + "|" + a + "]");
  CHECK(result("glob", {text((folder / "*.none").c_str())}) == "[]");
  CHECK(result("file_exists", {text(b.c_str())}) == "1");
  CHECK(result("file_exists", {text((folder / "none").c_str())}) == "0");
  CHECK(result("file_size", {text(b.c_str())}) == "5");
  CHECK(result("file_size0", {text((folder / "none").c_str())}) == "0");
  CHECK(error("file_size", {text((folder / "none").c_str())}).ends_with("no such file or directory"));
  CHECK(result("file_type_string", {text(folder.path.c_str())}) == "directory");
  CHECK(result("file_type", {File::existing(b)}) == "file");
  CHECK(call("file_mtime", {text(b.c_str())}).as_int() > 1700000000);
  CHECK(result("realpath_string", {text((folder / "./x/../b.txt").c_str())}) == std::filesystem::canonical(b).string());
  CHECK(call("input", {text(b.c_str())}).as_file().path() == b);
  CHECK(error("input_file", {text("p-none")}) == "input_file: file 'p-none' does not exist");
  const std::string temporary = result("mktemp_string", {});
  CHECK(std::filesystem::remove(temporary));
}

TEST_CASE("blobs") {
  const Value blob = call("blob_from_string", {text("hello")});
  CHECK(result("blob_size", {blob}) == "6");
  CHECK(result("string_from_blob", {blob}) == "hello");
  CHECK(result("floats_from_blob", {call("blob_from_floats", {list({real(1.5), real(-2)})})}) == "[1.5|-2.0]");
  CHECK(error("floats_from_blob", {blob}) == "floats_from_blob: 6 bytes are not a multiple of 8");
  CHECK(result("blob_size", {call("blob_from_ints", {list({whole(1), whole(-1)})})}) == "8");
  CHECK(error("blob_from_ints", {list({whole(1ll << 40)})}) ==
        "blob_from_ints: 1099511627776 does not fit into 32 bits");
  CHECK(result("blob_size", {call("blob_null", {})}) == "0");
  CHECK(result("blob_size", {call("blob_zeroes_float", {whole(3)})}) == "24");
  Folder folder;
  call_overload(0, "blob_write", {new_file(folder / "blob"), blob});
  CHECK(result("blob_size", {call("blob_read", {new_file(folder / "blob")})}) == "6");
}

TEST_CASE("the command line of a script") {
  raddle::vm::RunSettings settings;
  settings.script_path = "prog.df";
  settings.arguments = {"-v", "-a=f1", "f2",  "--exec=x", "--help", "f4", "-n=n=3",
                        "-5", "--q=",  "x=y", "--k=\"a",  "b",      "c\""};
  const auto show = [&](std::size_t overload, const char* name, std::vector<Value> arguments) {
    const Outcome outcome = call_overload(overload, name, std::move(arguments), settings);
    return outcome.error.empty() ? shown(outcome.results[0]) : outcome.error;
  };
  CHECK(show(0, "argc", {}) == "3");
  CHECK(show(0, "argv", {text("a")}) == "f1");
  CHECK(show(0, "argv", {text("n")}) == "n=3");
  CHECK(show(0, "argv", {text("v")}) == "");
  CHECK(show(0, "argv", {whole(5)}) == "");
  CHECK(show(0, "argv", {text("k")}) == "a b c");
  CHECK(show(0, "argv", {text("x")}) == "argv(): The command line did not provide 'x'");
  CHECK(show(1, "argv", {text("x"), real(2.5)}) == "2.5");
  CHECK(show(0, "argp", {whole(0)}) == "prog.df");
  CHECK(show(0, "argp", {whole(1)}) == "f2");
  CHECK(show(0, "argp", {whole(9)}) == "argp(9): there are only 3 arguments");
  CHECK(show(1, "argp", {whole(9), whole(1)}) == "1");
  CHECK(show(0, "argv_contains", {text("help")}) == "1");
  settings.arguments = {"-v", "-w"};
  CHECK(show(0, "args", {}) == "-v -w");
  CHECK(show(0, "argv_accept", {text("w")}) == "argv_accept: not accepted: v");
  CHECK(raddle::stdlib::split_arguments({"a", "", "b"}).positional.size() == 1);
}

TEST_CASE("system") {
  const auto run = [](std::vector<Value> words) {
    const Outcome outcome = call_overload(0, "system", {list(std::move(words))});
    return outcome.error + shown(outcome.results[0]) + " " + shown(outcome.results[1]);
  };
  CHECK(run({text("printf"), text("a  b\n\n")}) == "a  b\n 0");
  CHECK(run({text("sh"), text("-c"), text("echo out; exit 3")}) == "out 3");
  CHECK(run({text("no-such-program-anywhere")}) == " 127");
  CHECK(run({text("sh"), text("-c"), text("kill -9 $$")}) == " 137");
  const Outcome line = call_overload(0, "system1", {text(" echo  a   b ")});
  CHECK(shown(line.results[0]) == "a b");
}

TEST_CASE("modules") {
  using raddle::stdlib::is_module, raddle::stdlib::module_source;
  CHECK(is_module("io"));
  CHECK(is_module("unix"));
  CHECK_FALSE(is_module(""));
  CHECK_FALSE(is_module("nothing"));
  CHECK(module_source("unix").find("app (file o) cp(file i)") != std::string_view::npos);
  CHECK(module_source("io").empty());
}
