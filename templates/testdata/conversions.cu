// What the conversions of 8 and of 4 bits make: of each type the fp32 of all codes, and the codes of all numbers of
// bf16, with their neighbours in fp32, and of fp16; what the operations for scales make of those numbers; and what
// kernels of few rows make of pairs of codes. A kernel on a GPU writes it, or a program on the host; package drivertest
// compares it.
#include "../device/ptx.h"
#include "../device/bf16.h"
#include "../device/fp16.h"
#include "../device/eight.h"
#include "../device/units.h"
#include "../device/four.h"
#include "../device/arith.h"
#include "../device/scale.h"
#include "../device/eightunits.h"
#include "../device/powers.h"
#include "../device/narrow.h"

enum { of_bf16 = 5 << 16, numbers = of_bf16 + (1 << 16), pairs = 1 << 16 };

// number is one of bf16, a neighbour, a tie or a number beside one; or one of fp16.
DEVICE float number(u64 i)
{
  const unsigned lows[] = {0, 1, 0x7fff, 0x8000, 0xffff};
  const unsigned at = (unsigned)i;
  return at < of_bf16 ? __uint_as_float(at / 5 << 16 | lows[at % 5]) : fp16::widen(at - of_bf16);
}

// put writes so many values from a place on, and returns the place behind them.
template <typename F>
DEVICE u64 put(char *to, u64 at, u64 count, const struct Threads &t, F f)
{
  typedef decltype(f(0)) T;
  for (u64 i = t.first; i < count; i += t.stride) {
    ((T *)(to + at))[i] = f(i);
  }
  return at + count * sizeof(T);
}

// put_type writes codes as elements of units, and units of numbers, as kernels of formulas make them; and the numbers'
// codes once more, one by one.
template <typename E>
DEVICE u64 put_type(char *to, u64 at, unsigned codes, const struct Threads &t)
{
  at = put(to, at, codes, t, [](u64 i) {
    unit<E> v = {};
    for (unsigned k = 0; k < unit_elements; k++) {
      set_element(v, k, (unsigned)i / unit_elements * unit_elements + k);
    }
    return element(v, (unsigned)i % unit_elements);
  });
  at = put(to, at, numbers / unit_elements, t, [](u64 i) {
    return narrowed(E(), [i](unsigned k) { return number(i * unit_elements + k); });
  });
  return put(to, at, numbers, t, [](u64 i) { return (unsigned char)E::narrow(number(i)); });
}

// put_pairs writes the numbers of all pairs of codes, in the lower half of a word and in the upper one.
template <typename E>
DEVICE u64 put_pairs(char *to, u64 at, const struct Threads &t)
{
  at = put(to, at, pairs, t, [](u64 i) { return coded::of<E>(uint4{(unsigned)i, 0, 0, 0}, 0).x; });
  return put(to, at, pairs, t, [](u64 i) { return coded::of<E>(uint4{(unsigned)i << 16, 0, 0, 0}, 0).y; });
}

// conversions_code returns the number of bytes.
DEVICE u64 conversions_code(char *to, const struct Threads &t)
{
  u64 at = put_type<e4m3>(to, 0, 256, t);
  at = put_type<e5m2>(to, at, 256, t);
  at = put_type<e2m1>(to, at, 16, t);
  at = put_type<ue8m0>(to, at, 256, t);
  at = put(to, at, numbers, t, [](u64 i) { return f_finite(number(i)); });
  at = put(to, at, numbers, t, [](u64 i) { return f_power(number(i)); });
  at = put(to, at, numbers, t, [](u64 i) { return f_up(number(i)); });
  at = put(to, at, numbers, t, [](u64 i) { return f_loud_power(number(i)); });
  return put_pairs<fp16>(to, put_pairs<bf16>(to, at, t), t);
}

#ifndef OVGEN_HOST

struct conversions { char *to; };

extern "C" __global__ void __launch_bounds__(256) conversions(const __grid_constant__ struct conversions p)
{
  conversions_code(p.to, all_threads());
}

#endif
