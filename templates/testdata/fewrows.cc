// A test of the kernels of few rows, and by weights of eight bits: sums of -1, 0 and 1, and of codes, of which each is
// exact, and of other numbers, whose bits do not depend on the rows beside them nor on the kernel; and of functions of
// results, beside kernels of elements that make the same. The arguments are kernels; without any, it is of all. It ends
// at the first that does wrong.
#include "drive.h"
#include "list.h"
#include "numbers.h"

#include <set>
#include <string>
#include <sys/mman.h>

// Whether scales are of squares, where weights have eight bits.
static bool squares;

static std::string of(unsigned kernel, unsigned type, bool narrow, unsigned function = 0)
{
  return std::string(!narrow ? "fewrows" : squares ? "squares" : "narrow") + std::to_string(4 << kernel) +
         (function > 0 ? "_made" + std::to_string(function) : "") + (type == 1 ? "_bf16" : "_fp16");
}

enum { most = 64, sizes = 4, functions = 3 };
static const unsigned takes[sizes] = {8, 16, 32, 64};

// The kernels to be run, and those that were.
static std::set<std::string> chosen, ran;

// Whether a kernel is to be run.
static bool runs(const std::string &name)
{
  return failures == 0 && chosen.count(name) > 0 && (ran.insert(name), true);
}

// Whether one of a type is.
static bool some(unsigned type, bool narrow)
{
  bool any = false;
  for (unsigned kernel = 1; kernel <= sizes; kernel++) {
    for (unsigned function = 0; function <= functions; function++) {
      any = any || chosen.count(of(kernel, type, narrow, function)) > 0;
    }
  }
  return any;
}


typedef std::vector<unsigned short> Bits;
typedef std::vector<unsigned char> Codes;

// Guarded is a copy of elements that ends where memory does.
struct Guarded {
  enum { page = 4096 };
  size_t bytes;
  char *map, *at;

  template <typename T>
  explicit Guarded(const std::vector<T> &of, size_t count)
      : bytes((count * sizeof(T) + page - 1) / page * page),
        map((char *)mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        at(map + bytes - count * sizeof(T))
  {
    mprotect(map + bytes, page, PROT_NONE);
    memcpy(at, of.data(), count * sizeof(T));
  }

  ~Guarded() { munmap(map, bytes + page); }
};

// Parameters of other kernels hold these.
static void put(struct fewrows &to, const struct fewrows &p) { to = p; }
// Kernels of elements are launched by themselves.
static void put(struct elements &, const struct fewrows &) {}
static void put(struct elements2 &, const struct fewrows &) {}
static void put(struct elements3 &, const struct fewrows &) {}
template <typename Params>
static void put(Params &to, const struct fewrows &p)
{
  to.of = p;
}

static int launch(const std::string &name, const struct fewrows &p)
{
#define LAUNCH(kernel, params) if (name == #kernel) { \
    struct params x = {}; \
    put(x, p); \
    return run(#kernel, &x, 2, sizeof x > sizeof p ? 192 : 256); \
  }
  KERNELS(LAUNCH)
  return 1;
}

// The function of the kernels that run_few runs, 0 for none, and what it takes.
static unsigned making_function;
static struct fewrows making;

// run_few is a product of so many rows by a kernel, and of nothing behind them. The weight is codes where it has
// scales.
template <typename T>
static Bits run_few(unsigned kernel, unsigned type, size_t rows, size_t depth, size_t columns, const Bits &a,
                    const std::vector<T> &b, const Bits *bias, const std::vector<float> &scales = {})
{
  Bits c((rows + most) * columns, 0xeeee);
  const Guarded rows_of_a(a, rows * depth), weight(b, columns * depth), scale(scales, scales.size());
  struct fewrows p = making;
  p.scale = (const float *)scale.at;
  p.scales = scales.size();
  p.dst = (char *)c.data();
  p.a = rows_of_a.at;
  p.b = weight.at;
  p.bias = bias ? (const char *)bias->data() : nullptr;
  p.rows = rows;
  p.depth = depth;
  p.columns = columns;
  EXPECT(launch(of(kernel, type, !scales.empty(), making_function), p) == 0);
  for (size_t i = rows * columns; i < c.size(); i++) {
    EXPECT(c[i] == 0xeeee);
  }
  c.resize(rows * columns);
  return c;
}

// numbers are exact: -1, 0 and 1. Others are not.
static Bits numbers(unsigned type, size_t count, unsigned seed, bool exact)
{
  Bits list(count);
  for (size_t i = 0; i < count; i++) {
    const unsigned x = number(type, seed + (unsigned)i);
    list[i] = (unsigned short)(exact ? bits_of(type, (int)(x % 3) - 1) : x);
  }
  return list;
}

// sums are those of a product of numbers that are exact, of so many columns.
static std::vector<double> sums(unsigned type, size_t depth, size_t columns, const Bits &a, const Bits &b)
{
  std::vector<double> x, y, list(most * columns);
  for (unsigned bits : a) {
    x.push_back(value(type, bits));
  }
  for (unsigned bits : b) {
    y.push_back(value(type, bits));
  }
  for (size_t i = 0; i < list.size(); i++) {
    for (size_t k = 0; k < depth; k++) {
      list[i] += x[i / columns * depth + k] * y[i % columns * depth + k];
    }
  }
  return list;
}

// Operands are what the functions read, and Made what they make, with what is behind it.
struct Operands {
  Bits in_place, beside, row, column;
  std::vector<float> single;
  double scale;
};
typedef std::vector<unsigned char> Made;

// apart is what the kernel of elements makes of a result.
static Made apart(unsigned function, unsigned type, const Bits &x, size_t columns, const Operands &o)
{
  Made to(x.size() * 4, 0xee);
  const std::string name =
      "elements" + (function > 1 ? std::to_string(function) : "") + (type == 1 ? "_bf16" : "_fp16");
  const char *const from = (const char *)x.data();
  int left = 1;
  if (function == 1) {
    const struct elements p = {(char *)to.data(), x.size(), from, (const char *)o.in_place.data()};
    left = run(name.c_str(), &p, 2, 64);
  } else if (function == 2) {
    const struct elements2 p = {(char *)to.data(), x.size(), from, (const char *)o.row.data(),
                                (const char *)o.column.data(), (const char *)o.in_place.data(),
                                (const char *)o.beside.data(), columns, o.scale};
    left = run(name.c_str(), &p, 2, 64);
  } else {
    const struct elements3 p = {(char *)to.data(), x.size(), from, (const char *)o.in_place.data(),
                                (const char *)o.single.data()};
    left = run(name.c_str(), &p, 2, 64);
  }
  EXPECT(left == 0);
  return to;
}

// makes compares the kernels that apply a function with the function by itself, of the results of the same kernels. The
// library's function comes before the second.
template <typename T>
static void makes(unsigned type, size_t depth, size_t columns, const std::vector<T> &b,
                  const std::vector<float> &scales = {})
{
  const bool narrow = !scales.empty();
  const Bits a = numbers(type, most * depth, 9, false);
  Operands o = {numbers(type, most * columns, 3, false), numbers(type, most * columns, 33, false),
                numbers(type, columns, 333, false), numbers(type, most, 3333, false), {}, .125};
  for (unsigned bits : o.in_place) {
    o.single.push_back((float)value(type, bits) * 1.0009765625f);
  }
  for (unsigned kernel = 1; kernel <= sizes; kernel++) {
    for (unsigned function = 1; function <= functions; function++) {
      for (size_t rows : {3u, 13u, 64u}) {
        if (rows > takes[kernel - 1] || !runs(of(kernel, type, narrow, function))) {
          continue;
        }
        Bits x = run_few(kernel, type, rows, depth, columns, a, b, nullptr, scales);
        for (unsigned short &bits : x) {
          bits = function == 2 && bits & 0x8000 ? 0 : bits;
        }
        const Guarded in_place(o.in_place, x.size()), beside(o.beside, x.size()), single(o.single, x.size());
        const Guarded row(o.row, columns), column(o.column, rows);
        Made made(x.size() * 4, 0xee);
        making.made = (char *)made.data();
        making.operands[0] = function == 2 ? row.at : in_place.at;
        making.operands[1] = function == 2 ? column.at : single.at;
        making.operands[2] = in_place.at;
        making.operands[3] = beside.at;
        making.numbers[0] = o.scale;
        making_function = function;
        const Bits c = run_few(kernel, type, rows, depth, columns, a, b, nullptr, scales);
        making_function = 0;
        if (c != x && failures++ < 5) {
          printf("%s: %zu rows have other bits than without the function\n",
                 of(kernel, type, narrow, function).c_str(), rows);
        }
        if (made != apart(function, type, x, columns, o) && failures++ < 5) {
          printf("%s: of %zu rows it makes other bits than the function by itself\n",
                 of(kernel, type, narrow, function).c_str(), rows);
        }
      }
    }
  }
}

// made_of compares them for weights of both kinds.
static void made_of(unsigned type)
{
  enum { depth = 256, columns = 64, deep = 32, wide = 48 };
  if (some(type, false)) {
    makes(type, depth, columns, numbers(type, columns * depth, 99999, false));
  }
  if (some(type, true)) {
    Codes codes(wide * deep);
    for (size_t i = 0; i < codes.size(); i++) {
      codes[i] = (unsigned char)(number(type, 77 + (unsigned)i) % 0x7f | (i % 3 == 0 ? 0x80 : 0));
    }
    makes(type, deep, wide, codes, std::vector<float>(wide, .75f));
  }
  squares = true;
  if (some(type, true)) {
    Codes codes(256 * 128);
    for (size_t i = 0; i < codes.size(); i++) {
      codes[i] = (unsigned char)(number(type, 77 + (unsigned)i) % 0x7f | (i % 3 == 0 ? 0x80 : 0));
    }
    makes(type, 256, 128, codes, {.75f, 3});
  }
  squares = false;
}

static void product(unsigned type, size_t depth, size_t columns)
{
  if (!some(type, false)) {
    return;
  }
  const Bits a = numbers(type, most * depth, 1, true), b = numbers(type, columns * depth, 77777, true);
  const Bits bias = numbers(type, columns, 5, true);
  const std::vector<double> exact = sums(type, depth, columns, a, b);
  Bits x = numbers(type, most * depth, 9, false), y = numbers(type, columns * depth, 99999, false);
  // In the first slice and in the fifth, or the fourth, are products that cancel, so large that the order of the others
  // shows.
  const size_t other = depth > 256 ? 256 : 192;
  for (size_t i = 0; i < x.size(); i += depth) {
    x[i] = x[i + other] = (unsigned short)bits_of(type, 1024);
  }
  for (size_t i = 0; i < y.size(); i += depth) {
    y[i] = (unsigned short)bits_of(type, 1024);
    y[i + other] = (unsigned short)bits_of(type, -1024);
  }
  const Bits all = run_few(sizes, type, most, depth, columns, x, y, nullptr);
  for (unsigned kernel = 1; kernel <= sizes; kernel++) {
    for (size_t rows : {1u, 5u, 8u, 13u, 16u, 27u, 32u, 64u}) {
      if (rows > takes[kernel - 1] || !runs(of(kernel, type, false))) {
        continue;
      }
      for (const Bits *with : {(const Bits *)nullptr, &bias}) {
        const Bits c = run_few(kernel, type, rows, depth, columns, a, b, with);
        for (size_t i = 0; i < c.size(); i++) {
          const double want = exact[i] + (with ? value(type, bias[i % columns]) : 0);
          if (value(type, c[i]) != rounded(type, want) && failures++ < 5) {
            printf("%s, depth %zu: of %zu rows, element %zu is %g, want %g\n", of(kernel, type, false).c_str(), depth,
                   rows, i, value(type, c[i]), want);
          }
        }
      }
      const Bits c = run_few(kernel, type, rows, depth, columns, x, y, nullptr);
      if (!std::equal(c.begin(), c.end(), all.begin()) && failures++ < 5) {
        printf("%s, depth %zu: %zu rows have other bits than among 64\n", of(kernel, type, false).c_str(), depth, rows);
      }
    }
  }
}

// code_value is the number of a code, by the definition of e4m3.
static double code_value(unsigned code)
{
  const int exponent = code >> 3 & 15, digits = code & 7;
  if ((code & 0x7f) == 0x7f) {
    return __builtin_nan("");
  }
  const double x = exponent == 0 ? ldexp(digits, -9) : ldexp(8 + digits, exponent - 10);
  return code & 0x80 ? -x : x;
}

// is_spoiled says of which columns each has a NaN, at one of the last 16 places of its depth.
static bool is_spoiled(size_t column) { return column % 3 == 0; }

// narrow multiplies by codes: by all of them where the depth leaves their sums exact, else by few. There is one scale,
// or one for each column, or each square.
static void narrow(unsigned type, size_t depth, size_t columns, bool one)
{
  if (!some(type, true)) {
    return;
  }
  const auto scale_of = [&](size_t column, size_t k) {
    return one ? 0 : squares ? column / 128 * (depth / 128) + k / 128 : column;
  };
  enum { rows_most = 130 };
  const bool all = depth <= 48;
  const Bits a = numbers(type, rows_most * depth, 1, true), bias = numbers(type, columns, 5, true);
  const Bits x = numbers(type, rows_most * depth, 9, false);
  Codes b(columns * depth), y(columns * depth);
  for (size_t i = 0; i < b.size(); i++) {
    const unsigned char few[] = {0, 0x38, 0xb8, 0x40, 0x80};
    y[i] = (unsigned char)(number(type, 77 + (unsigned)i) % 0x7f | (i % 3 == 0 ? 0x80 : 0));
    b[i] = all ? y[i] : few[y[i] % 5];
  }
  for (size_t column = 0; column < columns; column++) {
    if (is_spoiled(column)) {
      b[column * depth + depth - 16 + column % 16] = column % 2 == 0 ? 0x7f : 0xff;
    }
  }
  std::vector<float> scales(scale_of(columns - 1, depth - 1) + 1);
  for (size_t i = 0; i < scales.size(); i++) {
    scales[i] = (float)(1 << i % 3);
  }
  const Bits of_all = run_few(sizes, type, rows_most, depth, columns, x, y, nullptr, scales);
  for (unsigned kernel = 1; kernel <= sizes; kernel++) {
    for (size_t rows : {1u, 7u, 8u, 33u, 64u, 130u}) {
      if ((rows > takes[kernel - 1] && kernel < sizes) || !runs(of(kernel, type, true))) {
        continue;
      }
      for (const Bits *with : {(const Bits *)nullptr, &bias}) {
        const Bits c = run_few(kernel, type, rows, depth, columns, a, b, with, scales);
        for (size_t i = 0; i < c.size(); i++) {
          double want = 0;
          for (size_t k = 0; k < depth; k++) {
            want += value(type, a[i / columns * depth + k]) * code_value(b[i % columns * depth + k]) *
                    scales[scale_of(i % columns, k)];
          }
          want += with ? value(type, bias[i % columns]) : 0;
          const double got = value(type, c[i]);
          const bool nan = (c[i] & 0x7fff) > (type == 1 ? 0x7f80 : 0x7c00);
          if ((is_spoiled(i % columns) ? !nan : got != rounded(type, want)) && failures++ < 5) {
            printf("%s, depth %zu: of %zu rows, element %zu is %g, want %g\n", of(kernel, type, true).c_str(), depth,
                   rows, i, got, want);
          }
        }
      }
      const Bits c = run_few(kernel, type, rows, depth, columns, x, y, nullptr, scales);
      if (!std::equal(c.begin(), c.end(), of_all.begin()) && failures++ < 5) {
        printf("%s, depth %zu: %zu rows have other bits than among 130\n", of(kernel, type, true).c_str(), depth, rows);
      }
    }
  }
}

int main(int, char **args)
{
  for (args++; *args != nullptr; args++) {
    chosen.insert(*args);
  }
  if (chosen.empty()) {
#define ALSO(kernel, params) chosen.insert(#kernel);
    KERNELS(ALSO)
  }
  made_of(1);
  made_of(2);
  narrow(1, 48, 80, false);
  narrow(2, 16, 16, true);
  narrow(1, 16 * 37, 48, true);
  narrow(2, 512 + 16, 64, false);
  squares = true;
  narrow(1, 128, 256, false);
  narrow(2, 128 * 9, 128, false);
  squares = false;
  product(1, 256, 64);
  product(2, 768, 256);
  product(1, 256 * 11, 64);
  for (const std::string &name : chosen) {
    if (failures == 0 && ran.count(name) == 0 && name.find("elements") != 0) {
      printf("nobody runs %s\n", name.c_str());
      failures++;
    }
  }
  return failures != 0;
}
