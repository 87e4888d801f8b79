// A test of package run's kernels: prints hashes of filled tensors for the Go side, and
// checks the conversions against the host compiler's.
#include "engine.h"

#include "run_host.cc"

#include <cmath>
#include <cstdio>
#include <vector>

static void run(int kernel, const void *params, unsigned blocks, unsigned threads)
{
  const unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
  const ovgen_kernel *k = engine_load((void *)run_kernels) + kernel;
  unsigned long long addr;
  unsigned value;
  void *l = engine_start(k, params, grid, block, kernel);
  if (engine_resume(l, &addr, &value) != 0) {
    printf("kernel %d waits\n", kernel);
  }
  engine_destroy(l);
}

// The formats of fp16, bf16 and fp32.
enum { half = 5 | 11 << 8, bfloat = 8 | 8 << 8, single = 8 | 24 << 8 };

static float half_to_float(unsigned bits) { return widened(bits, 5, 11, 0); }
static unsigned float_to_half(float x) { return narrowed(x, 5, 11); }
static unsigned float_to_bfloat(float x) { return narrowed(x, 8, 8); }

// conversions holds all halves against arithmetic and back.
static int conversions()
{
  for (unsigned h = 0; h < 0x10000; h++) {
    const unsigned exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31) {
      continue;
    }
    float want = exponent == 0 ? std::ldexp((float)fraction, -24) : std::ldexp(1024.0f + fraction, (int)exponent - 25);
    want = h & 0x8000 ? -want : want;
    const float got = half_to_float((unsigned short)h);
    if (got != want || std::signbit(got) != std::signbit(want) || float_to_half(got) != h) {
      printf("half %04x: %g, want %g, back %04x\n", h, got, want, float_to_half(got));
      return 1;
    }
  }
  // Ties to even and just beside them.
  const struct {
    float x;
    unsigned half, bfloat;
  } rounds[] = {{1.00048828125f, 0x3c00, 0x3f80}, {1.0004884f, 0x3c01, 0x3f80},
                {1.00146484375f, 0x3c02, 0x3f80}, {-1.00390625f, 0xbc04, 0xbf80}, {1.01171875f, 0x3c0c, 0x3f82}};
  for (const auto &r : rounds) {
    if (float_to_half(r.x) != r.half || float_to_bfloat(r.x) != r.bfloat) {
      printf("%.10g: %04x %04x\n", r.x, float_to_half(r.x), float_to_bfloat(r.x));
      return 1;
    }
  }
  return 0;
}

int main()
{
  const int n = 12;
  float values[n + 1];
  values[n] = 42;
  struct run_fill p = {(unsigned long long)values, 5, n, n, n, 3, 1u << 23, single, 0, 1.0f, 0, 0};
  run(0, &p, 2, 4);
  for (int i = 0; i < n; i++) {
    printf("%g ", values[i]);
  }
  p.real = 1;
  run(0, &p, 1, 1);
  for (int i = 0; i < n; i++) {
    printf("%.9g ", values[i]);
  }
  printf("%g\n", values[n]);
  // Two of every five elements, and again on top of them, in units of 4.
  p = {(unsigned long long)values, 5, n, 2, 5, 3, 1u << 23, single, 0, 4.0f, 0, 0};
  run(0, &p, 2, 2);
  p.add = 1;
  run(0, &p, 1, 3);
  for (int i = 0; i < n; i++) {
    printf("%g ", values[i]);
  }
  printf("\n");
  // Rows of 3, each of its own size.
  p = {(unsigned long long)values, 5, n, n, n, 3, 1u << 23, single, 0, 1.0f, 0, 3};
  run(0, &p, 2, 4);
  for (int i = 0; i < n; i++) {
    printf("%g ", values[i]);
  }
  printf("\n");

  unsigned short got[5] = {0x3f80, 0x7fc0, 0x8000, 0x4000, 0}, want[9] = {0x3f80, 0x7fc0, 9, 9, 0, 0x4040, 9, 9, 0};
  struct run_verdict found[2];
  struct run_compare c = {(unsigned long long)got, (unsigned long long)want, (unsigned long long)found,
                          5, 2, 4, bfloat, 0};
  run(1, &c, 2, 1);
  for (const auto &f : found) {
    printf("%lld %u %g\n", f.first, f.differ, f.largest);
  }
  return conversions();
}
