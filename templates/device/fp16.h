// The element type fp16: its bits as they lie in memory, and the fp32 that they are added up in.

#ifndef OVGEN_HOST

DEVICE float half_bits_to_float(unsigned bits)
{
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)bits));
  return x;
}

DEVICE unsigned float_to_half_bits(float x)
{
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

#endif

struct fp16 {
  typedef unsigned short bits;
  DEVICE float widen(unsigned x) { return half_bits_to_float(x); }
  DEVICE unsigned narrow(float x) { return float_to_half_bits(x); }
};
