// Elements of 8 bits as they lie in memory, and the fp32 that they are computed in: what OCP and NVIDIA define, by
// operations that every GPU has. Instructions that narrow to them begin with compute capability 8.9, and make the same.

// eight is a type by the digits of its significand behind the first one, the bias of its exponent, and the bits of its
// greatest number. Behind that come infinity, if the type has one, and NaN.
template <unsigned digits, unsigned bias, unsigned greatest, bool infinite>
struct eight {
  typedef unsigned char bits;
  enum : unsigned {
    drop = 23 - digits,             // digits of a float that an element lacks
    rebias = (127 - bias) << 23,    // from an element's exponent to a float's, as a float has it
  };

  // As the first digits of a float an element is the number times 2^(bias-127), subnormal or not, and infinity and NaN
  // are greater than all numbers.
  DEVICE float widen(unsigned code)
  {
    const unsigned word = code << 24;  // the sign comes down with the digits
    const unsigned wide = (unsigned)((int)word >> (24 - drop)) & (0x80000000u | 0x7fu << drop);
    const float x = __fmul_rn(__uint_as_float(wide), __uint_as_float((254 - bias) << 23));
    const unsigned size = __float_as_uint(x) & 0x7fffffffu, beyond = ((greatest + 1) << drop) + rebias;
    if (__uint_as_float(size) >= __uint_as_float(beyond)) {
      return __uint_as_float(infinite && size == beyond ? (word & 0x80000000u) | 0x7f800000u : 0x7fc00000u);
    }
    return x;
  }

  // To nearest, ties to even. What is too large becomes the greatest number, also infinity; each NaN becomes the one
  // of all ones. The sum of a number and a power of two whose last digit is worth an element's has its digits last; of
  // a number below the least with all digits that power is as of the least one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  DEVICE unsigned narrow(float x) { return two(x, 0.0f); }

  // two are the codes of two numbers, the first one's in the low bits.
  DEVICE unsigned two(float x, float y)
  {
    unsigned short codes;
    if (infinite) {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(y), "f"(x));
    } else {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(y), "f"(x));
    }
    return codes;
  }
#else
  DEVICE unsigned narrow(float x)
  {
    enum : unsigned { least = rebias + (1u << 23), most = (greatest << drop) + rebias };
    const unsigned all = __float_as_uint(x), whole = all & 0x7fffffffu, size = whole < most ? whole : most;
    const unsigned power = (size > least ? size : least) & 0x7f800000u, coarse = power + (drop << 23);
    const unsigned sum = __float_as_uint(__uint_as_float(size) + __uint_as_float(coarse));
    const unsigned code = sum - coarse + ((power - least) >> drop);
    return whole > 0x7f800000u ? 0x7fu : (all >> 24 & 0x80u) | code;
  }

  DEVICE unsigned two(float x, float y) { return narrow(x) | narrow(y) << 8; }
#endif
};

struct e4m3 : eight<3, 7, 0x7e, false> {};
struct e5m2 : eight<2, 15, 0x7b, true> {};
