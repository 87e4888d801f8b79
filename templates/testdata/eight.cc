// Prints what the conversions of 8 and of 4 bits make: of each type the fp32 of all codes, and the codes of all bf16
// and of their neighbours in fp32, and what the operations for scales make of those.
#include <cstdio>

namespace of_host {
typedef unsigned long long u64;
#include "host.h"
#define DEVICE static __device__ __forceinline__
#include "eight.h"
#include "units.h"
#include "four.h"
#include "arith.h"
#include "scale.h"
#include "eightunits.h"
#include "powers.h"
}

template <typename E, unsigned codes>
static void print()
{
  for (unsigned code = 0; code < codes; code++) {
    const float x = E::widen(code);
    fwrite(&x, sizeof x, 1, stdout);
  }
  static const unsigned lows[] = {0, 1, 0x7fff, 0x8000, 0xffff};
  for (unsigned high = 0; high < 0x10000; high++) {
    for (unsigned low : lows) {
      putchar((int)E::narrow(__builtin_bit_cast(float, high << 16 | low)));
    }
  }
}

template <float f(float)>
static void print_scales()
{
  static const unsigned lows[] = {0, 1, 0x7fff, 0x8000, 0xffff};
  for (unsigned high = 0; high < 0x10000; high++) {
    for (unsigned low : lows) {
      const float x = f(__builtin_bit_cast(float, high << 16 | low));
      fwrite(&x, sizeof x, 1, stdout);
    }
  }
}

int main()
{
  print<of_host::e4m3, 256>();
  print<of_host::e5m2, 256>();
  print<of_host::e2m1, 16>();
  print<of_host::ue8m0, 256>();
  print_scales<of_host::f_finite>();
  print_scales<of_host::f_power>();
  print_scales<of_host::f_up>();
  print_scales<of_host::f_loud_power>();
  return 0;
}
