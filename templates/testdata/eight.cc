// Prints what conversions.cu makes on the host.
#include <cmath>
#include <cstdio>
#include <cstring>

namespace of_host {
typedef unsigned long long u64;
#include "../device/host.h"
#include "conversions.cu"
}

static float half_to_float(unsigned bits)
{
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  const float size = exponent == 0 ? std::ldexp((float)digits, -24)
    : exponent < 31 ? std::ldexp(1024.0f + (float)digits, exponent - 25) : digits == 0 ? INFINITY : NAN;
  return bits >> 15 ? -size : size;
}

// Of numbers that a half has, and NaN.
static unsigned float_to_half(float x)
{
  if (std::isnan(x)) {
    return 0x7fffu;
  }
  const float size = std::fabs(x);
  const int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
  const unsigned code = ((unsigned)(exponent + 14) << 10) + (unsigned)std::ldexp(size, 10 - exponent);
  return std::signbit(x) ? 0x8000u | code : code;
}

// Of numbers that bf16 has.
static unsigned float_to_bfloat(float x) { return __builtin_bit_cast(unsigned, x) >> 16; }

int main()
{
  of_host::Engine host = {};
  host.half_to_float = half_to_float;
  host.float_to_half = float_to_half;
  host.float_to_bfloat = float_to_bfloat;
  of_host::engine = &host;
  static char made[16 << 20];
  const unsigned long long bytes = of_host::conversions_code(made, {0, 1});
  return bytes > sizeof made || fwrite(made, bytes, 1, stdout) != 1;
}
