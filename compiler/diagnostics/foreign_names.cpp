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
    ForeignName{NameUse::variable, " function ",
                "a function is written at top level: `(float y) f(float x) { y = x + 1.0; }`"},
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
    ForeignName{NameUse::function, " len count numel ndims ",
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
                "`std(a)` is the standard deviation of an array, after `import stats;`; its divisor is n: that of a "
                "sample, as in R, is `std(a) * sqrt(n / (n - 1.0))`"},
    ForeignName{NameUse::function, " variance ",
                "`var(a)`, after `import arrays;`; its divisor is n: that of a sample is `var(a) * n / (n - 1.0)`"},
    ForeignName{NameUse::function, " cor corrcoef corr ",
                "`mean((x - mean(x)) * (y - mean(y))) / (std(x) * std(y))`, after `import arrays;`; `cov(A)` has the "
                "covariances of the rows of a matrix"},
    ForeignName{NameUse::function, " percentile nanpercentile prctile ",
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
    ForeignName{NameUse::function, " mod modulo remainder ",
                "the remainder of ints is written `a %% b`, with the sign of a; that of floats `x - floor(x / y) * y`, "
                "with the sign of y, after `import math;`"},
    ForeignName{NameUse::function, " fmod rem ",
                "the remainder of ints is written `a %% b`; that of floats, with the sign of x, is "
                "`ternary(x < 0.0, -1.0, 1.0) * (abs(x) - floor(abs(x) / abs(y)) * abs(y))`, after `import math;`"},
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
    ForeignName{
        NameUse::function, " keys getKeys names ",
        "`keys_string(d)` or, of ints, `keys_integer(d)`; `foreach x, key in d {}` runs over elements and keys"},
    ForeignName{NameUse::function, " values items enumerate zip ",
                "`foreach x, key in a {}` runs over the elements of an array and their keys"},
    ForeignName{NameUse::function, " normal randn rnorm gauss normalvariate normrnd standard_normal ",
                "`random_normal(mean, deviation)`, after `import random;`; `random_normal(mean, deviation, n)` is an "
                "array of them, after `import arrays;`"},
    ForeignName{NameUse::function, " uniform runif unifrnd ",
                "`a + (b - a) * random()`, after `import random;`; `random(n)` is an array of them, after `import "
                "arrays;`"},
    ForeignName{NameUse::function, " exponential rexp expovariate exprnd ",
                "`random_exponential(mean)`, of the mean and not the rate, after `import random;`, with `, n` for an "
                "array after `import arrays;`"},
    ForeignName{NameUse::function, " poisson rpois poissrnd ", "`random_poisson(mean)`, after `import random;`"},
    ForeignName{NameUse::function, " binomial rbinom binornd ", "`random_binomial(n, p)`, after `import random;`"},
    ForeignName{NameUse::function, " rgamma gamrnd gammavariate ",
                "`random_gamma(shape, scale)`, after `import random;`"},
    ForeignName{NameUse::function, " integers randi randrange ",
                "`randint(a, b)` is an `int` from a up to, not including, b, after `import random;`, with `, n` for an "
                "array after `import arrays;`"},
    ForeignName{NameUse::function, " sample choices randsample ",
                "`choice(a, n)` takes elements by chance, each time from all; without putting back: "
                "`shuffle(a)[0 : n - 1]`, after `import arrays;`"},
    ForeignName{NameUse::function, " randperm ", "`permutation(n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " seed srand set_seed set.seed rng default_rng manual_seed ",
                "the seed is an option of the command line: `raddle run --seed 7 FILE`"},
    ForeignName{NameUse::function, " arcsin ", "`asin(x)`, after `import math;`"},
    ForeignName{NameUse::function, " arccos ", "`acos(x)`, after `import math;`"},
    ForeignName{NameUse::function, " arctan ", "`atan(x)`, after `import math;`"},
    ForeignName{NameUse::function, " arctan2 ", "`atan2(y, x)`, after `import math;`"},
    ForeignName{NameUse::function, " arcsinh ", "`asinh(x)`, after `import math;`"},
    ForeignName{NameUse::function, " arccosh ", "`acosh(x)`, after `import math;`"},
    ForeignName{NameUse::function, " arctanh ", "`atanh(x)`, after `import math;`"},
    ForeignName{NameUse::function, " ceiling ", "`ceil(x)`, after `import math;`"},
    ForeignName{NameUse::function, " isnan is.nan is.na isna is_na ismissing ",
                "`is_nan(x)`, after `import math;`; `x[!is_nan(x)]` are the elements of an array that are numbers"},
    ForeignName{NameUse::function, " isinf is.infinite ", "`is_inf(x)`, after `import arrays;`"},
    ForeignName{NameUse::function, " isfinite is.finite ", "`is_finite(x)`, after `import arrays;`"},
    ForeignName{NameUse::function, " nanvar nanprod nanquantile na.omit dropna ",
                "without NaN is `x[!is_nan(x)]`, after `import arrays;` and `import math;`: `mean(x[!is_nan(x)])`"},
    ForeignName{NameUse::function, " nan_to_num fillna ",
                "`where(is_nan(x), 0.0, x)`, after `import arrays;` and `import math;`"},
    ForeignName{NameUse::function, " ifelse if_else iif cond ",
                "`where(c, a, b)` takes for each element one of two, after `import arrays;`; `ternary(c, a, b)` is one "
                "of two values"},
    ForeignName{NameUse::function, " head ", "the first n elements of an array are `a[0 : n - 1]`"},
    ForeignName{NameUse::function, " tail ", "the last n elements of a dense array are `a[end - n + 1 : end]`"},
    ForeignName{NameUse::function, " insert ",
                "no array changes; `concat(a[0 : i - 1], concat([x], a[i:end]))` is a new one, after `import arrays;`; "
                "an element of a growing array is added by assigning it: `a[i] = x;`"},
    ForeignName{NameUse::function, " remove delete pop del discard ",
                "no array changes; `a[a != x]` is one without some elements, `concat(a[0 : i - 1], a[i + 1 : end])` "
                "one without the element i, after `import arrays;`"},
    ForeignName{NameUse::function, " argpartition ", "`argsort(a)[0 : k - 1]`, after `import arrays;`"},
    ForeignName{NameUse::function, " partition ", "`sort(a)`, after `import arrays;`"},
    ForeignName{NameUse::function, " sorted ", "`sort(a)`, after `import arrays;`"},
    ForeignName{NameUse::function, " order ", "`argsort(a)`, after `import arrays;`; its indices begin at 0"},
    ForeignName{NameUse::function, " which.max ", "`argmax(a)`, after `import arrays;`; indices begin at 0"},
    ForeignName{NameUse::function, " which.min ", "`argmin(a)`, after `import arrays;`; indices begin at 0"},
    ForeignName{NameUse::function, " rev flipud fliplr reversed ", "`flip(a)`, after `import arrays;`"},
    ForeignName{NameUse::function, " hist histc histcounts ", "`histogram(a, bins)`, after `import arrays;`"},
    ForeignName{NameUse::function, " table value_counts tabulate Counter ",
                "`unique_counts(a)`, or `count_by(labels, k)` of labels from 0 to k - 1, after `import arrays;`"},
    ForeignName{NameUse::function, " trapz ", "`trapezoid(y, x)`, after `import arrays;`"},
    ForeignName{NameUse::function, " chol ", "`cholesky(A)`, after `import arrays;`"},
    ForeignName{NameUse::function, " eig eigvals eigvalsh eigen ",
                "`eigh(A)` has the values and vectors of a symmetric matrix, after `import arrays;`"},
    ForeignName{NameUse::function, " mvrnorm multivariate_normal mvnrnd ",
                "`mean + matmul(cholesky(C), random_normal(n))`, after `import arrays;`"},
    ForeignName{NameUse::function, " lm polyfit lsqr mldivide ",
                "`lstsq(A, b)` fits by least squares, after `import arrays;`"},
    ForeignName{NameUse::function, " crossprod ", "`matmul(transpose(A), B)`, after `import arrays;`"},
    ForeignName{NameUse::function, " meshgrid ndgrid ",
                "none is needed: `column(x) + row(y)` is a matrix, after `import arrays;`"},
    ForeignName{NameUse::function, " logspace geomspace ", "`10.0 ** linspace(a, b, n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " repmat ", "`tile(a, n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " circshift ", "`roll(a, n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " colMeans ", "`mean(A, 0)`, after `import arrays;`"},
    ForeignName{NameUse::function, " rowMeans ", "`mean(A, 1)`, after `import arrays;`"},
    ForeignName{NameUse::function, " colSums ", "`sum(A, 0)`, after `import arrays;`"},
    ForeignName{NameUse::function, " rowSums ", "`sum(A, 1)`, after `import arrays;`"},
    ForeignName{
        NameUse::function, " reduce Reduce accumulate ",
        "`sum(a)`, `prod(a)`, `max(a)`; any other is a `for`: `float s; for (int i = 0, s = 0.0; i < n; i = i + "
        "1, s = f(s, a[i])) {}`"},
    ForeignName{NameUse::function, " factorial ", "`exp(lgamma(n + 1.0))`, after `import math;`"},
    ForeignName{NameUse::function, " comb choose nchoosek binom ",
                "`exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0))`, after `import math;`"},
    ForeignName{NameUse::function, " pnorm normcdf ", "`0.5 * erfc(-x / sqrt(2.0))`, after `import math;`"},
    ForeignName{NameUse::function, " dnorm normpdf ", "`exp(-0.5 * x ** 2) / sqrt(2.0 * PI)`, after `import math;`"},
    ForeignName{NameUse::function, " paste paste0 ",
                "texts are joined by `+`, those of an array by `join(a, \", \")`, after `import string;`"},
    ForeignName{NameUse::function, " nchar ", "`strlen(s)`, after `import string;`"},
    ForeignName{NameUse::function, " strsplit ", "`split(s, \",\")`, after `import string;`"},
    ForeignName{NameUse::function, " gsub re.sub ", "`regex_replace(s, pattern, by)`, after `import string;`"},
    ForeignName{NameUse::function, " grepl re.match re.search ", "`regex_match(s, pattern)`, after `import string;`"},
    ForeignName{NameUse::function, " startswith startsWith ", "`starts_with(s, begin)`, after `import string;`"},
    ForeignName{NameUse::function, " endswith endsWith ", "`ends_with(s, end)`, after `import string;`"},
    ForeignName{NameUse::function, " astype as.integer as_integer ",
                "`float2int(x)` makes ints of floats, toward zero, `string2int(s)` of a text"},
    ForeignName{NameUse::function, " as.numeric as_numeric as.double ",
                "`itof(n)` makes a float of an int, `string2float(s)` of a text"},
    ForeignName{NameUse::function, " as.character ", "`toString(x)` makes a string"},
    ForeignName{NameUse::function, " data.frame DataFrame struct2table ",
                "a table is an array of structures, `type row { string name; float x; } row t[];`, or a structure of "
                "arrays"},
    ForeignName{NameUse::function,
                " read.csv read.table read_table read.delim fread loadtxt genfromtxt csvread readmatrix readtable ",
                "`float A[:, :] = read_csv(f);` reads a table, after `import arrays;`; columns of several types go "
                "into an array of structures: `raddle doc read_csv`"},
    ForeignName{NameUse::function, " write.csv write.table to_csv savetxt csvwrite writematrix writetable ",
                "`file f<\"a.csv\"> = write_csv(A);`, after `import arrays;`"},
    ForeignName{NameUse::function, " save np.save saveRDS dump ",
                "`file f<\"a.npy\"> = write_npy(A);`, after `import arrays;`"},
    ForeignName{NameUse::function, " load np.load readRDS ",
                "`float A[:, :] = read_npy(input(\"a.npy\"));`, after `import arrays;`"},
    ForeignName{NameUse::function, " plot figure ggplot ",
                "a script draws nothing: `raddle plot RUN -x a -y b` draws the results of a sweep on the terminal; "
                "`write_csv` and `write_npy` of `import arrays;` write what other programs draw"},
    ForeignName{NameUse::function, " time Sys.time tic toc perf_counter proc.time system.time time.time ",
                "`clock()` gives seconds since 1970 with fractions, `now()` whole ones, after `import sys;`"},
    ForeignName{NameUse::function, " Sys.getenv environ os.getenv ", "`getenv(\"NAME\")`, after `import sys;`"},
    ForeignName{NameUse::function, " Sys.sleep time.sleep ", "`sleep(seconds)`, after `import sys;`"},
    ForeignName{NameUse::function, " file.exists isfile os.path.exists ",
                "`file_exists(\"path\")`, after `import files;`"},
    ForeignName{NameUse::function, " list.files listdir os.listdir ", "`glob(\"folder/*\")`, after `import files;`"},
    ForeignName{NameUse::function, " mkdir makedirs dir.create ",
                "a folder is made with the first file that a script writes in it"},
    ForeignName{NameUse::function, " c ", "an array is written `[1, 2, 3]`"},
    ForeignName{NameUse::function, " array asarray ",
                "a dense array is declared with its elements, `float a[:] = [1.0, 2.0];`; `dense(a)` makes one of a "
                "growing array, after `import arrays;`"},
    ForeignName{NameUse::function, " matrix ",
                "a matrix is declared with its elements, `float A[:, :] = [[1.0, 2.0], [3.0, 4.0]];`; `zeros(n, m)` is "
                "one of zeros, after `import arrays;`"},
    ForeignName{NameUse::function, " empty zeros_like empty_like numeric ",
                "`zeros(n)` or `zeros(n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " ones_like ", "`ones(n)` or `ones(n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " full_like rep rep_len ",
                "`full(x, n)` or `full(x, n, m)`, after `import arrays;`"},
    ForeignName{NameUse::function, " identity ", "`eye(n)`, after `import arrays;`"},
    ForeignName{NameUse::function, " seq seq_len seq_along ",
                "`[1:10]` are the ints from 1 to 10; `linspace(0.0, 1.0, 11)` floats in equal steps, after `import "
                "arrays;`"},
    ForeignName{NameUse::function, " concatenate vstack rbind extend ",
                "`concat(a, b)` puts one array behind the other, of matrices below it, after `import arrays;`"},
    ForeignName{NameUse::function, " hstack cbind ",
                "`concat(A, B, 1)` puts matrices side by side, `concat(a, b)` one array behind the other, after "
                "`import arrays;`"},
    ForeignName{
        NameUse::function, " column_stack dstack ",
        "`stack(a, b, axis=1)` makes columns of vectors, `concat(A, B, axis=1)` puts matrices side by side, after "
        "`import arrays;`"},
    ForeignName{NameUse::function, " block ",
                "`concat(concat(A, B, axis=1), concat(C, D, axis=1))`, after `import arrays;`"},
    ForeignName{NameUse::function, " swapaxes moveaxis rollaxis aperm ",
                "`permute(A, 1, 0, 2)` has the axes in that order, after `import arrays;`"},
    ForeignName{NameUse::function, " rot90 ", "`flip(transpose(A), axis=0)`, after `import arrays;`"},
    ForeignName{NameUse::function, " allclose isclose array_equal ",
                "`all(abs(a - b) <= 1e-8)`, or `all(a == b)`, after `import arrays;`"},
    ForeignName{NameUse::function, " ptp ", "`max(a) - min(a)`, after `import arrays;`"},
    ForeignName{
        NameUse::function, " einsum tensordot ",
        "`matmul(A, B)`, `outer(a, b)`, or a sum of products along an axis, `sum(A * B, axis=1)`, after `import "
        "arrays;`"},
    ForeignName{NameUse::function, " newaxis atleast_2d ",
                "`column(a)` is a matrix with one column, `row(a)` with one row, after `import arrays;`"},
    ForeignName{NameUse::function, " ndim nrow ncol NROW NCOL dim nrows ncols ",
                "`shape(A)` are the extents, `size(A, 0)` is the number of rows, after `import arrays;`"},
    ForeignName{NameUse::function, " ravel ", "`flatten(A)`, after `import arrays;`"},
    ForeignName{NameUse::function, " t ", "`transpose(A)`, after `import arrays;`"},
    ForeignName{NameUse::function, " product ", "`prod(a)`, after `import arrays;`"},
    ForeignName{NameUse::function, " which argwhere flatnonzero find_all ",
                "`nonzero(mask)` are the places, after `import arrays;`"},
    ForeignName{NameUse::function, " copy deepcopy ", "values never change, so none is copied: `b = a;`"},
    ForeignName{NameUse::function, " sapply lapply vapply vectorize Vectorize arrayfun cellfun map Map apply ",
                "a function of numbers is called with a dense array, for each element: `f(a)`"},
    ForeignName{NameUse::function, " exit quit abort stopifnot stop ",
                "a run ends when nothing is left to run; `assert(condition, \"why\")` ends it with an error, after "
                "`import assert;`"},
    ForeignName{NameUse::function, " readline readlines readLines read_line read_lines getline gets ",
                "`file_lines(input(\"path\"))` are the lines of a file, after `import files;`"},
    ForeignName{NameUse::function, " append push push_back ", "an element is added by assigning it: `a[i] = x;`"},
    ForeignName{NameUse::function, " open fopen file_get_contents readFile read_file read_text ",
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
