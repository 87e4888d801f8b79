// A test of the kernels of calls, against doubles.
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

// A call that adds up over its block, of any size and time after time.
static void totals(unsigned type, size_t threads)
{
  const size_t count = 3 * threads - 1;
  Tensor x(type, count, 0, 1), to(type, 3, 0, 3);
  const struct call_Total p = {{(char *)to.at, 3 * size_of(type)}, {{(char *)x.at, count * size_of(type)}}};
  EXPECT(run(of("call_Total", type).c_str(), &p, 1, (unsigned)threads) == 0);
  for (size_t i = 0; i < 3; i++) {
    double want = 0, most = 0;
    for (size_t k = i * threads; k < std::min(count, (i + 1) * threads); k++) {
      want += value(type, get(type, x.at, k));
      most += 1e-6 * std::fabs(value(type, get(type, x.at, k)));
    }
    const double got = value(type, get(type, to.at, i));
    if (!near(type, got, want) && std::fabs(got - want) > most) {
      return report("call_Total", type, 0, count, i, got, want);
    }
  }
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
    for (size_t count : {1, 8, 33}) {
      for (int from : {0, 8, 16}) {
        calls(type, count, from, 1);
        calls(type, count, from, 0);
        calls(type, count, from / 8 + 1, 0);
      }
    }
  }
  for (size_t threads : {1, 2, 5, 7, 32}) {
    totals(1, threads);
    totals(3, threads);
  }
  attends(1, 4, 128);
  attends(1, 3, 8);
  attends(3, 140, 136);
  outside();
  return failures != 0;
}
