// A test of the kernels of functions, against doubles.
#include "engine.h"

#include "check_host.cc"

#include "drive.h"
#include "list.h"
#include "numbers.h"

#include <string>

static std::string of(const char *kernel, unsigned type)
{
  return std::string(kernel) + (type == 1 ? "_bf16" : type == 2 ? "_fp16" : "_fp32");
}

// Elements of a type after some that belong to nobody; some are -0.
struct Tensor {
  std::vector<unsigned char> memory;
  unsigned char *at;

  Tensor(unsigned type, size_t count, size_t shift, unsigned seed)
      : memory((count + 64) * size_of(type), 0xee), at(&memory[shift * size_of(type)])
  {
    for (size_t i = 0; i < count; i++) {
      const unsigned bits = i % 11 == 3 ? bits_of(type, -0.0) : number(type, seed + i);
      memcpy(at + i * size_of(type), &bits, size_of(type));
    }
  }
};

static void report(const char *kernel, unsigned type, size_t shift, size_t count, size_t i, double got, double want)
{
  printf("%s: type %u, shift %zu, count %zu: element %zu is %.9g, want %.9g\n", kernel, type, shift, count, i, got,
         want);
  failures++;
}

// Rows of more and of fewer elements than a block has threads, more rows than blocks, and in place.
static void norms(unsigned type, size_t rows, size_t columns, double epsilon, bool in_place)
{
  const size_t count = rows * columns;
  Tensor x(type, count, 1, 1), weight(type, columns, 0, 7919), to(type, count, 1, 3);
  std::vector<double> want(count);
  for (size_t r = 0; r < rows; r++) {
    double squares = 0;
    for (size_t i = r * columns; i < (r + 1) * columns; i++) {
      squares += value(type, get(type, x.at, i)) * value(type, get(type, x.at, i));
    }
    for (size_t i = r * columns; i < (r + 1) * columns; i++) {
      want[i] = value(type, get(type, x.at, i)) / std::sqrt(squares / columns + epsilon) *
                value(type, get(type, weight.at, i % columns));
    }
  }
  unsigned char *dst = in_place ? x.at : to.at;
  struct rmsnorm p = {(char *)dst, count, (const char *)x.at, (const char *)weight.at, columns, epsilon};
  EXPECT(run(of("rmsnorm", type).c_str(), &p, 3, 7) == 0);
  for (size_t i = 0; i < count; i++) {
    if (const double got = value(type, get(type, dst, i)); !near(type, got, want[i])) {
      return report("rmsnorm", type, columns, count, i, got, want[i]);
    }
  }
  EXPECT(get(type, dst, count) == (type == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// The same about the means of rows, whose errors are of what is left of an element and of the bias.
static void norms_about_means(unsigned type, size_t rows, size_t columns, double epsilon, bool in_place)
{
  const size_t count = rows * columns;
  Tensor x(type, count, 1, 1), weight(type, columns, 0, 7919), bias(type, columns, 3, 104729), to(type, count, 1, 3);
  std::vector<double> want(count), most(count);
  for (size_t r = 0; r < rows; r++) {
    double mean = 0, squares = 0, size = 0;
    for (size_t i = r * columns; i < (r + 1) * columns; i++) {
      mean += value(type, get(type, x.at, i)) / columns;
      size += std::fabs(value(type, get(type, x.at, i))) / columns;
    }
    for (size_t i = r * columns; i < (r + 1) * columns; i++) {
      squares += std::pow(value(type, get(type, x.at, i)) - mean, 2);
    }
    const double scale = 1 / std::sqrt(squares / columns + epsilon);
    for (size_t i = r * columns; i < (r + 1) * columns; i++) {
      const double w = value(type, get(type, weight.at, i % columns)), b = value(type, get(type, bias.at, i % columns));
      want[i] = (value(type, get(type, x.at, i)) - mean) * scale * w + b;
      most[i] = 1e-6 * ((std::fabs(value(type, get(type, x.at, i))) + size) * scale * std::fabs(w) + std::fabs(b));
    }
  }
  unsigned char *dst = in_place ? x.at : to.at;
  struct layernorm p = {
      (char *)dst, count, (const char *)x.at, (const char *)weight.at, (const char *)bias.at, columns, epsilon};
  EXPECT(run(of("layernorm", type).c_str(), &p, 3, 7) == 0);
  for (size_t i = 0; i < count; i++) {
    const double got = value(type, get(type, dst, i));
    if (!near(type, got, want[i]) && std::fabs(got - want[i]) > most[i]) {
      return report("layernorm", type, columns, count, i, got, want[i]);
    }
  }
  EXPECT(get(type, dst, count) == (type == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// Heads turned by the angles of their rows.
static void rotations(unsigned type, size_t rows, size_t heads, size_t width, bool in_place)
{
  const size_t columns = heads * width, count = rows * columns;
  Tensor x(type, count, 1, 1), table(type, rows * width, 0, 7919), to(type, count, 1, 3);
  std::vector<double> want(count), most(count);
  for (size_t i = 0; i < count; i++) {
    const size_t j = i % columns % width, low = i - j + j % (width / 2), angle = i / columns * width + j % (width / 2);
    const double a = value(type, get(type, x.at, low)), b = value(type, get(type, x.at, low + width / 2));
    const double cosine = value(type, get(type, table.at, angle));
    const double sine = value(type, get(type, table.at, angle + width / 2));
    const double from[2] = {j < width / 2 ? a * cosine : b * cosine, j < width / 2 ? -b * sine : a * sine};
    want[i] = from[0] + from[1];
    most[i] = 1e-6 * (std::fabs(from[0]) + std::fabs(from[1]));
  }
  unsigned char *dst = in_place ? x.at : to.at;
  struct rotary p = {(char *)dst, count, (const char *)x.at, (const char *)table.at, rows * width, width};
  EXPECT(run(of("rotary", type).c_str(), &p, 3, 7) == 0);
  for (size_t i = 0; i < count; i++) {
    const double got = value(type, get(type, dst, i));
    if (!near(type, got, want[i]) && std::fabs(got - want[i]) > most[i]) {
      return report("rotary", type, columns, count, i, got, want[i]);
    }
  }
  EXPECT(get(type, dst, count) == (type == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// A call's kernel at every place that units may begin at, and at one that no tensor has: it ends and says so.
static void calls(unsigned type, size_t count, int from, long long units)
{
  Tensor x(type, count + 16, 0, 1), to(type, count, 0, 3);
  const size_t size = size_of(type);
  const struct call_Scale p = {{(char *)to.at, count * size}, {{(char *)x.at, (count + 16) * size}, {(char *)&from, 4}},
                               {3, units}};
  EXPECT(run(of("call_Scale", type).c_str(), &p, 2, 5) == 0);
  for (size_t i = 0; i < count; i++) {
    const double got = value(type, get(type, to.at, i)), want = 3 * value(type, get(type, x.at, i + from));
    if (!near(type, got, want)) {
      return report("call_Scale", type, from, count, i, got, want);
    }
  }
  EXPECT(get(type, to.at, count) == (type == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// fault is what a call says that leaves a tensor.
static std::string fault(const char *name, const void *params)
{
  void *l = begin(find(name), params, 3, 4);
  u64 addr;
  unsigned value;
  EXPECT(advance(l, &addr, &value) == 3);
  const std::string text = engine_fault(l);
  engine_destroy(l);
  return text;
}

static void outside()
{
  alignas(16) float x[16] = {}, out[16] = {};
  int from = 0;
  const auto with = [&](u64 to, u64 has, int place, long long units) {
    from = place;
    const struct call_Scale p = {{(char *)out, 4 * to}, {{(char *)x, 4 * has}, {(char *)&from, 4}}, {3, units}};
    return fault("call_Scale_fp32", &p);
  };
  EXPECT(with(9, 8, 0, 0) == "call Scale reads X at byte 32 of 32");
  EXPECT(with(1, 8, -3, 0) == "call Scale reads X at byte -12 of 32");
  EXPECT(with(1, 8, 8, 0) == "call Scale reads X at byte 32 of 32");
  EXPECT(with(4, 7, 4, 1) == "call Scale reads X at byte 16 of 28");
  EXPECT(with(4, 16, 16, 1) == "call Scale reads X at byte 64 of 64");
  struct call_Scale p = {{(char *)out, 8}, {{(char *)x, 8}, {(char *)&from, 0}}, {3, 0}};
  EXPECT(fault("call_Scale_fp32", &p) == "call Scale reads From at byte 0 of 0");
  const struct call_Scale nothing = {};
  EXPECT(run("call_Scale_fp32", &nothing, 1, 32) == 0);
  unsigned numbers[3] = {7, 7, 7};
  const struct call_Count q = {{(char *)numbers, 8}, {{(char *)x, 20}}};
  EXPECT(run("call_Count_fp32", &q, 1, 2) == 0 && numbers[0] == 5 && numbers[1] == 6 && numbers[2] == 7);
}

// Attention as the catalog has it: four heads that share two of keys and values, in more rows than a tile has.
static void attends(unsigned type, size_t rows, size_t width)
{
  const size_t heads = 4, groups = 2, columns = heads * width, shared = groups * width;
  Tensor query(type, rows * columns, 0, 1), key(type, rows * shared, 0, 77), of_row(type, rows * shared, 0, 7919);
  Tensor to(type, rows * columns, 0, 3);
  const size_t size = size_of(type);
  const struct call_Attention p = {
      {(char *)to.at, rows * columns * size},
      {{(char *)query.at, rows * columns * size}, {(char *)key.at, rows * shared * size},
       {(char *)of_row.at, rows * shared * size}},
      {(long long)rows, (long long)columns, (long long)shared, (long long)width}};
  EXPECT(run(of("call_Attention", type).c_str(), &p, 3, 128) == 0);
  const auto dot = [&](size_t row, size_t head, size_t at) {
    double sum = 0;
    for (size_t c = 0; c < width; c++) {
      sum += value(type, get(type, query.at, row * columns + head * width + c)) *
             value(type, get(type, key.at, at * shared + head / 2 * width + c));
    }
    return sum / std::sqrt((double)width);
  };
  for (size_t row = 0; row < rows; row += rows / 3) {
    for (size_t head = 0; head < heads; head++) {
      std::vector<double> weight(row + 1), want(width);
      double most = -1e30, sum = 0;
      for (size_t at = 0; at <= row; at++) {
        weight[at] = dot(row, head, at);
        most = std::max(most, weight[at]);
      }
      for (double &w : weight) {
        sum += w = std::exp(w - most);
      }
      for (size_t c = 0; c < width; c++) {
        double size_of_terms = 0;
        for (size_t at = 0; at <= row; at++) {
          const double term = weight[at] / sum * value(type, get(type, of_row.at, at * shared + head / 2 * width + c));
          want[c] += term;
          size_of_terms += std::fabs(term);
        }
        const size_t i = row * columns + head * width + c;
        if (const double got = value(type, get(type, to.at, i));
            !near(type, got, want[c]) && std::fabs(got - want[c]) > 1e-4 * size_of_terms) {
          return report("call_Attention", type, rows, columns, i, got, want[c]);
        }
      }
    }
  }
}

int main()
{
  for (unsigned type = 1; type <= 3; type++) {
    for (const bool in_place : {false, true}) {
      for (size_t rows : {0, 1, 3}) {
        rotations(type, rows, 1, 128, in_place);
        rotations(type, rows, 2, 6, in_place);
      }
      for (size_t rows : {0, 1, 2, 5}) {
        for (size_t columns : {1, 3, 7, 8, 20}) {
          const double epsilon = in_place ? 0.25 : 1e-6;  // as much as a square, and a usual one
          norms(type, rows, columns, epsilon, in_place);
          norms_about_means(type, rows, columns, epsilon, in_place);
        }
      }
    }
    for (size_t count : {1, 8, 33}) {
      for (int from : {0, 8, 16}) {
        calls(type, count, from, 1);
        calls(type, count, from, 0);
        calls(type, count, from / 8 + 1, 0);
      }
    }
  }
  attends(1, 4, 128);
  attends(1, 3, 8);
  attends(3, 140, 136);
  outside();
  return failures != 0;
}
