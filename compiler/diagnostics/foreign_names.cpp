#include "compiler/diagnostics/foreign_names.hpp"

#include <array>
#include <string>

namespace raddle {

namespace {

struct ForeignName {
  NameUse use;
  std::string_view names;  ///< with a blank on both sides of each
  std::string_view help;
};

constexpr std::string_view no_return =
    "there is no `return`: a function assigns to its output, `(int o) f(int x) { o = x + 1; }`";

constexpr std::array foreign_names = {
    ForeignName{NameUse::type, " double real Float number f64 ", "a floating-point number is a `float`"},
    ForeignName{NameUse::type, " bool Boolean Bool logical ", "a truth value is a `boolean`"},
    ForeignName{NameUse::type, " str String char wchar text ", "a text is a `string`, one character too"},
    ForeignName{NameUse::type, " long short unsigned signed integer Int Integer int64 int64_t int32 uint size_t i64 ",
                "a whole number is an `int`; it has 64 bits"},
    ForeignName{NameUse::type, " list List array Array vector tuple set ",
                "an array is declared with its element type: `int a[];`"},
    ForeignName{NameUse::type, " dict map Map hash ", "an array may have any keys: `int a[string];`"},
    ForeignName{NameUse::type, " bytes byte buffer ", "bytes are a `blob`"},
    ForeignName{NameUse::type, " let var auto val any ", "write the type, `int x = 3;`, or no type at all, `x = 3;`"},
    ForeignName{NameUse::type, " return ", no_return},
    ForeignName{NameUse::variable, " True TRUE ", "write `true`"},
    ForeignName{NameUse::variable, " False FALSE ", "write `false`"},
    ForeignName{NameUse::variable, " None null NULL nil undefined nullptr ",
                "there is no empty value: a variable is assigned, or what reads it waits"},
    ForeignName{NameUse::variable, " pi Pi M_PI ", "`PI` is the constant, after `import math;`"},
    ForeignName{NameUse::variable, " nan NAN ", "write `NaN`"},
    ForeignName{NameUse::variable, " Inf INF Infinity infinity ", "write `inf`"},
    ForeignName{NameUse::variable, " break continue pass ",
                "loops have no `break` and no `continue`: put the rest of the body under an `if`, or stop a `for` by "
                "its condition"},
    ForeignName{NameUse::variable, " return ", no_return},
    ForeignName{NameUse::function, " return ", no_return},
    ForeignName{
        NameUse::function, " print println puts echo cout disp ",
        "`printf(\"%s\", x);` prints a line, after `import io;`; `trace(x);` any scalar, `trace(repr(a));` an array"},
    ForeignName{NameUse::function, " len count numel ",
                "`size(a)` counts an array's elements, `strlen(s)` a string's characters"},
    ForeignName{NameUse::function, " str String to_string tostring ", "`toString(x)` makes a string"},
    ForeignName{NameUse::function, " append push push_back ", "an element is added by assigning it: `a[i] = x;`"},
    ForeignName{NameUse::function, " open fopen ",
                "`input(\"path\")` is an existing file; `read(f)` its text, after `import files;`"},
    ForeignName{NameUse::function, " format ", "`\"%i %s\" % (a, b)` formats"},
    ForeignName{NameUse::function, " while until ",
                "there is no `while`: write `for (...; condition; ...) {}` or `iterate i {} until (condition)`"},
    ForeignName{NameUse::function, " elif elseif elsif ", "write `else if (condition) {}`"},
    ForeignName{
        NameUse::function, " try ",
        "there is no `try`: an error ends the run, under `--keep-going` only what depends on it; `@retry=3` before "
        "an app runs it again"},
    ForeignName{NameUse::function, " exec shell run subprocess ",
                "an external program is an app: `app (file o) f(file i) { \"program\" i @stdout=o }`"},
};

}  // namespace

std::string_view help_for_foreign_name(std::string_view name, NameUse use) {
  const std::string word = " " + std::string(name) + " ";
  for (const ForeignName& entry : foreign_names) {
    if (entry.use != use) continue;
    if (entry.names.find(word) != std::string_view::npos) return entry.help;
  }
  return {};
}

}  // namespace raddle
