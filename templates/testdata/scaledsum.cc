// Prints sums of codes as scaled_sum makes them: to fp32 and to e5m2, with a row behind the terms and without, where
// memory is aligned and where the terms or the result are not.
#include <cstdio>

namespace of_host {
typedef unsigned long long u64;
#include "host.h"
#define DEVICE static __device__ __forceinline__
#include <ptx.h>
#include <words.h>
#include <blocks.h>
#include "bf16.h"
#include "fp16.h"
#include "fp32.h"
#include "eight.h"
#include "arith.h"
#include "units.h"
#include "eightunits.h"
#include "sum.h"
#include "scaledsum.h"
#include "ofcodes.h"

enum { ranks = 3, columns = 48, of_scale = 16, size = 5 * columns, some_threads = 7 };

alignas(16) static char codes[ranks][size + 16], made[4 * size + 16];
static float scales[ranks * (size / of_scale)], row[columns];

// each_row adds a row to each row.
struct each_row {
  template <unsigned unit>
  void operator()(float (&x)[unit], u64 first, unsigned n) const
  {
    for (unsigned k = 0; k < n; k++) {
      x[k] += row[(first + k) % columns];
    }
  }
};

template <typename To, typename Finish>
static void print(unsigned at, unsigned terms_at, Finish finish)
{
  const char *terms[ranks], *by[ranks];
  for (unsigned t = 0; t < ranks; t++) {
    terms[t] = codes[t] + terms_at;
    by[t] = (const char *)(scales + t * (size / of_scale));
    for (unsigned i = 0; i < size; i++) {
      codes[t][terms_at + i] = (char)((i * 7 + t * 13 + i / of_scale * 5) % 0x7e | (i + t) % 2 << 7);
    }
  }
  for (unsigned first = 0; first < some_threads; first++) {
    scaled_sum<e4m3, fp32, To>(made + at, terms, by, ranks, of_scale, size, Threads{first, some_threads}, finish);
  }
  fwrite(made + at, sizeof(typename To::bits), size, stdout);
}

// own_words are those of a launch without peers: the word in which blocks that signal count themselves.
static void own_words(struct reduce &, unsigned *) {}
static void own_words(struct shot &p, unsigned *count) { p.blocks = count; }

// print_kernel is a launch of a kernel that has no peers, of blocks of a thread.
template <typename Params>
static void print_kernel(void (*kernel)(const Params), unsigned at, unsigned terms_at)
{
  unsigned count = 0;
  Params p = {};
  own_words(p, &count);
  p.dst = made + at;
  p.count = size;
  p.n = 2 * ranks;
  p.scaled = of_scale;
  for (unsigned t = 0; t < ranks; t++) {
    p.terms[t] = codes[t] + terms_at;
    p.terms[ranks + t] = (const char *)(scales + t * (size / of_scale));
  }
  for (unsigned block = 0; block < some_threads; block++) {
    const Engine one = {{0, 0, 0}, {block, 0, 0}, {1, 1, 1}, {some_threads, 1, 1}, [] {}, nullptr, nullptr, nullptr,
                        [] { return 0ull; }, nullptr, nullptr, nullptr,
                        [](unsigned *word, unsigned last) { return *word == last ? *word = 0, last : (*word)++; },
                        nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    engine = &one;
    kernel(p);
  }
  fwrite(made + at, 4, size, stdout);
}
}

int main()
{
  using namespace of_host;
  for (unsigned i = 0; i < ranks * (size / of_scale); i++) {
    scales[i] = (float)(1u << i * 5 % 11) / 64;
  }
  for (unsigned j = 0; j < columns; j++) {
    row[j] = (float)j - 9;
  }
  const unsigned places[][2] = {{0, 0}, {4, 0}, {0, 1}};
  for (const auto &p : places) {
    print<fp32>(p[0], p[1], no_function());
    print_kernel<struct reduce>(reduce_fp32, p[0], p[1]);
    print_kernel<struct shot>(shot_fp32, p[0], p[1]);
    print<fp32>(p[0], p[1], each_row());
    print<e5m2>(p[0], p[1], no_function());
  }
  return 0;
}
