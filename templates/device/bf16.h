// The element type bf16: its bits as they lie in memory, and the fp32 that they are added up in.

#ifndef OVGEN_HOST

DEVICE unsigned float_to_bfloat_bits(float x)
{
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

#endif

struct bf16 {
  typedef unsigned short bits;
  DEVICE float widen(unsigned x) { return __uint_as_float(x << 16); }
  DEVICE unsigned narrow(float x) { return float_to_bfloat_bits(x); }
};
