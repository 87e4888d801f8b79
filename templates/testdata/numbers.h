// The element types by arithmetic on doubles alone, as the kernels number them, from 1.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

[[maybe_unused]] static size_t size_of(unsigned type) { return type == 3 ? 4 : 2; }

// A number of a type, by arithmetic on doubles alone.
[[maybe_unused]] static double value(unsigned type, unsigned bits)
{
  if (type == 3) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
  }
  const int fraction = type == 1 ? 7 : 10, bias = type == 1 ? 127 : 15;
  const int exponent = bits >> fraction & ((1 << (15 - fraction)) - 1), low = bits & ((1 << fraction) - 1);
  const double x = exponent == 0 ? std::ldexp(low, 1 - bias - fraction)
                                 : std::ldexp(low + (1 << fraction), exponent - bias - fraction);
  return bits & 0x8000 ? -x : x;
}

// The nearest number of a type, ties to even.
[[maybe_unused]] static double rounded(unsigned type, double x)
{
  if (type == 3 || x == 0) {
    return (float)x;
  }
  const int fraction = type == 1 ? 7 : 10, lowest = type == 1 ? -126 : -14;
  const int unit = std::max(std::ilogb(x), lowest) - fraction;
  return std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
}

[[maybe_unused]] static unsigned get(unsigned type, const unsigned char *at, size_t i)
{
  return type == 3 ? ((const unsigned *)at)[i] : ((const unsigned short *)at)[i];
}

// Numbers of ordinary size, so that order and rounding show, with a few zeros and
// subnormals of fp16.
[[maybe_unused]] static unsigned number(unsigned type, unsigned x)
{
  x = x * 2654435761u + 12345;
  x ^= x >> 15;
  if (x % 37 == 0) {
    return type == 2 ? x >> 8 & 0x83ff : 0;
  }
  const unsigned exponent = x >> 20 & 3;
  if (type == 3) {
    return (x & 0x807fffffu) | (125 + exponent) << 23;
  }
  return type == 1 ? (x & 0x807fu) | (125 + exponent) << 7 : (x & 0x83ffu) | (13 + exponent) << 10;
}

// The bits of a number of a type.
[[maybe_unused]] static unsigned bits_of(unsigned type, double x)
{
  if (type == 3) {
    const float f = (float)x;
    unsigned bits;
    memcpy(&bits, &f, 4);
    return bits;
  }
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const int fraction = type == 1 ? 7 : 10, lowest = type == 1 ? -126 : -14;
  x = std::fabs(x);
  if (x == 0) {
    return sign;
  }
  const int exponent = std::max(std::ilogb(x), lowest);
  const unsigned units = (unsigned)std::ldexp(x, fraction - exponent);  // with the leading 1, if any
  return sign | (((unsigned)(exponent - lowest) << fraction) + units);
}

// near is whether a number is a value rounded once, of its sign, but for a part in a million of fp32's own functions.
[[maybe_unused]] static bool near(unsigned type, double got, double want)
{
  const double unit = type == 1 ? 0x1p-8 : type == 2 ? 0x1p-11 : 0x1p-24;
  return std::signbit(got) == std::signbit(want) &&
         std::fabs(got - want) <= std::fabs(want) * (unit + 1e-6) + (type == 2 ? 0x1p-25 : 1e-40);
}

[[maybe_unused]] static double silu_in_double(double x) { return x / (1 + std::exp(-x)); }
