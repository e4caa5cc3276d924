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
    ForeignName{NameUse::type, " double real Float number f64 float64 ", "a floating-point number is a `float`"},
    ForeignName{NameUse::type, " f32 Float32 single ", "a floating-point number of 32 bits is a `float32`"},
    ForeignName{NameUse::type, " i32 Int32 int32_t ", "a whole number of 32 bits is an `int32`"},
    ForeignName{NameUse::type, " bool Boolean Bool logical ", "a truth value is a `boolean`"},
    ForeignName{NameUse::type, " str String char wchar text ", "a text is a `string`, one character too"},
    ForeignName{NameUse::type, " long short unsigned signed integer Int Integer int64 int64_t uint size_t i64 ",
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
    ForeignName{NameUse::variable, " nan NAN NA ", "write `NaN`"},
    ForeignName{NameUse::variable, " Inf INF Infinity infinity ", "write `inf`"},
    ForeignName{
        NameUse::variable, " break ",
        "leave it out at the end of a `case`: cases do not fall through; loops have no `break`: put the rest of "
        "the body under an `if`, or stop a `for` by its condition"},
    ForeignName{NameUse::variable, " continue pass ",
                "loops have no `continue`: put the rest of the body under an `if`"},
    ForeignName{NameUse::variable, " argv args ARGV ",
                "after `import sys;`, `argp(1)` is the first argument of the script, `argv(\"name\")` the value of "
                "`--name=value`"},
    ForeignName{NameUse::variable, " return ", no_return},
    ForeignName{NameUse::variable, " np numpy scipy math pd pandas plt os ",
                "what a module has is named without the module: `PI`, `sqrt(x)`, after `import math;`"},
    ForeignName{NameUse::function, " return ", no_return},
    ForeignName{NameUse::function, " print println puts echo cout disp ",
                "`printf(\"%s\", x);` prints a line, after `import io;`, and `printf(\"%s\", repr(a));` one of a "
                "growing array; "
                "`trace(x);` needs no import"},
    ForeignName{NameUse::function, " len count numel ",
                "`size(a)` counts an array's elements, `strlen(s)` a string's characters"},
    ForeignName{NameUse::function, " str String to_string tostring int2str float2str itoa num2str ",
                "`toString(x)` makes a string"},
    ForeignName{NameUse::function, " atoi stoi str2int parse_int strtol ", "`string2int(\"3\")` reads an `int`"},
    ForeignName{NameUse::function, " atof stof str2float parse_float strtod ",
                "`string2float(\"1.5\")` reads a `float`"},
    ForeignName{NameUse::function, " substr slice ", "`substring(s, start, length)`, after `import string;`"},
    ForeignName{NameUse::function, " lower tolower lowercase to_lower ", "`toLower(s)`, after `import string;`"},
    ForeignName{NameUse::function, " upper toupper uppercase to_upper ", "`toUpper(s)`, after `import string;`"},
    ForeignName{NameUse::function, " strip chomp ", "`trim(s)`, after `import string;`"},
    ForeignName{NameUse::function, " average ", "`avg(a)` is the mean of an array, after `import stats;`"},
    ForeignName{NameUse::function, " stdev stddev std_dev sd ",
                "`std(a)` is the standard deviation of an array, after `import stats;`"},
    ForeignName{NameUse::function, " percentile nanpercentile ",
                "`quantile(a, 0.9)` is the 90th percentile, after `import arrays;`"},
    ForeignName{NameUse::function, " argpartition partition ",
                "`argsort(x)[0:k-1]` are the places of the k smallest, `sort(x)[0:k-1]` these, after `import arrays;`"},
    ForeignName{NameUse::function, " union1d intersect1d setdiff1d isin in1d ",
                "arrays as sets: `union(a, b)`, `intersection(a, b)`, `difference(a, b)`, `is_in(x, a)`, after `import "
                "arrays;`"},
    ForeignName{NameUse::function, " strptime strftime mktime fromtimestamp ",
                "`parse_date(s)` gives seconds since 1970, `format_date(seconds)` a text, after `import sys;`"},
    ForeignName{NameUse::function, " rand ",
                "after `import random;`, `random()` is a `float` from 0 to 1, `randint(a, b)` an `int` from a up to, "
                "not including, b"},
    ForeignName{NameUse::function, " mod modulo remainder ", "the remainder is written `a %% b`"},
    ForeignName{NameUse::function, " fabs absolute ", "`abs(x)`, after `import math;`"},
    ForeignName{NameUse::function, " j0 j1 y0 y1 gamma tgamma nextafter copysign logb rint nearbyint fdim ",
                "a function of a library in C is declared where it is needed, as in `@library=\"libm.so.6\" (float y) "
                "tgamma(float x);`"},
    ForeignName{NameUse::function, " exists_key has_key haskey key_exists containsKey ",
                "`contains(a, key)` tells whether an array has an element"},
    ForeignName{NameUse::function, " power ", "a power is written `x ** 2`"},
    ForeignName{NameUse::function, " not ", "`not` is written `!`"},
    ForeignName{NameUse::function, " maximum fmax pmax ",
                "`max(a, b)` is the larger one of two numbers; of dense arrays for each element"},
    ForeignName{NameUse::function, " minimum fmin pmin ",
                "`min(a, b)` is the smaller one of two numbers; of dense arrays for each element"},
    ForeignName{NameUse::function, " c ", "an array is written `[1, 2, 3]`"},
    ForeignName{NameUse::function, " array asarray ",
                "a dense array is declared with its elements, `float a[:] = [1.0, 2.0];`; `dense(a)` makes one of a "
                "growing array, after `import arrays;`"},
    ForeignName{NameUse::function, " matrix ",
                "a matrix is declared with its elements, `float A[:, :] = [[1.0, 2.0], [3.0, 4.0]];`; `zeros(n, m)` is "
                "one of zeros, after `import arrays;`"},
    ForeignName{NameUse::function, " empty zeros_like empty_like ",
                "`zeros(n)` or `zeros(n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " ones_like ", "`ones(n)` or `ones(n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " full_like rep ", "`full(x, n)` or `full(x, n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " identity ", "`eye(n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " seq ",
                "`[1:10]` are the ints from 1 to 10; `linspace(0.0, 1.0, 11)` floats in equal steps, after `import "
                "arrays;`"},
    ForeignName{NameUse::function, " concatenate vstack rbind ",
                "`concat(a, b)` puts one array behind the other, of matrices below it, after `import arrays;`"},
    ForeignName{NameUse::function, " hstack cbind ",
                "`concat(A, B, 1)` puts matrices side by side, `concat(a, b)` one array behind the other, after "
                "`import arrays;`"},
    ForeignName{NameUse::function, " ndim nrow ncol dim ",
                "`shape(A)` are the extents, `size(A, 0)` is the number of rows, after `import arrays;`"},
    ForeignName{NameUse::function, " ravel ", "`flatten(A)`, after `import arrays;`"},
    ForeignName{NameUse::function, " t ", "`transpose(A)`, after `import arrays;`"},
    ForeignName{NameUse::function, " product ", "`prod(a)`, after `import arrays;`"},
    ForeignName{NameUse::function, " which argwhere ", "`nonzero(mask)` are the places, after `import arrays;`"},
    ForeignName{NameUse::function, " copy deepcopy ", "values never change, so none is copied: `b = a;`"},
    ForeignName{NameUse::function, " sapply lapply vectorize ",
                "a function of numbers is called with a dense array, for each element: `f(a)`"},
    ForeignName{NameUse::function, " exit quit abort ",
                "a run ends when nothing is left to run; `assert(condition, \"why\")` ends it with an error, after "
                "`import assert;`"},
    ForeignName{NameUse::function, " readline readlines read_line read_lines getline gets ",
                "`file_lines(input(\"path\"))` are the lines of a file, after `import files;`"},
    ForeignName{NameUse::function, " append push push_back ", "an element is added by assigning it: `a[i] = x;`"},
    ForeignName{NameUse::function, " open fopen ",
                "`input(\"path\")` is an existing file; `read(f)` its text, after `import files;`"},
    ForeignName{NameUse::function, " format ", "`\"%i %s\" % (a, b)` formats"},
    ForeignName{NameUse::function, " while until ",
                "there is no `while`: write `for (...; condition; ...) {}` or `iterate i {} until (condition)`"},
    ForeignName{NameUse::function, " do ",
                "there is no `do`: `iterate i { ... } until (condition)` runs its body at least once"},
    ForeignName{NameUse::function, " If ", "did you mean `if`?"},
    ForeignName{NameUse::function, " For ", "did you mean `for`?"},
    ForeignName{NameUse::function, " Foreach ForEach forEach for_each ", "did you mean `foreach`?"},
    ForeignName{NameUse::function, " Switch ", "did you mean `switch`?"},
    ForeignName{NameUse::function, " Wait ", "did you mean `wait`?"},
    ForeignName{NameUse::function, " Iterate ", "did you mean `iterate`?"},
    ForeignName{NameUse::function, " While Until ",
                "there is no `while`: write `for (...; condition; ...) {}` or `iterate i {} until (condition)`"},
    ForeignName{NameUse::function, " elif elseif elsif ", "write `else if (condition) {}`"},
    ForeignName{NameUse::function, " with ",
                "a file is read by its name: `read(input(\"path\"))`, after `import files;`"},
    ForeignName{NameUse::function, " raise throw ",
                "`assert(false, \"why\");` ends the run with an error, after `import assert;`"},
    ForeignName{NameUse::function, " assert ", "`assert(condition, \"why\");`, after `import assert;`"},
    ForeignName{
        NameUse::function, " try ",
        "`try { ... } else { ... }`: the second block is done if something in the first one fails; `@default=0 f(x)` "
        "is one value in place of a failure"},
    ForeignName{NameUse::function, " exec shell run subprocess ",
                "an external program is an app: `app (file o) f(file i) { \"program\" i @stdout=o }`"},
    ForeignName{NameUse::member, " T ", "`transpose(A)`, after `import arrays;`"},
    ForeignName{NameUse::member, " length len ",
                "`size(a)` counts an array's elements, `strlen(s)` a string's characters"},
    ForeignName{NameUse::member, " flat ", "`flatten(A)`, after `import arrays;`"},
    ForeignName{NameUse::module, " numpy np scipy ", "`import arrays;` has functions of arrays by the names of NumPy"},
    ForeignName{NameUse::module, " pandas pd csv ", "`read_csv(f)` of `import arrays;` reads a table"},
    ForeignName{NameUse::module, " os subprocess ",
                "`import sys;` and `import files;` have the like; a program is an app"},
    ForeignName{NameUse::module, " time datetime ", "`now()` of `import sys;` is the time, `format_date` writes it"},
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
