// The element type fp32: its bits as they lie in memory, and the fp32 that they are added up in.

struct fp32 {
  typedef unsigned bits;
  DEVICE float widen(unsigned x) { return __uint_as_float(x); }
  DEVICE unsigned narrow(float x) { return __float_as_uint(x); }
};
