// Elements of 8 bits as they lie in memory, and the fp32 that they are computed in: what OCP and NVIDIA define, by
// operations that every GPU has. Instructions that convert them begin with compute capability 8.9.

// eight is a type by the digits of its significand behind the first one, the bias of its exponent, and the bits of its
// greatest number. Behind that come infinity, if the type has one, and NaN.
template <unsigned digits, unsigned bias, unsigned greatest, bool infinite>
struct eight {
  typedef unsigned char bits;
  enum : unsigned {
    drop = 23 - digits,             // digits of a float that an element lacks
    rebias = (127 - bias) << 23,    // from an element's exponent to a float's, as a float has it
    step = (128 + drop - bias) << 23,  // a float whose last digit is worth a subnormal's
  };

  // A subnormal is the last digits of step, which the subtraction leaves.
  DEVICE float widen(unsigned x)
  {
    const unsigned rest = x & 0x7fu;
    unsigned wide = (rest << drop) + rebias;
    if (rest >> digits == 0) {
      wide = __float_as_uint(__uint_as_float(step + rest) - __uint_as_float(step));
    } else if (rest > greatest) {
      wide = infinite && rest == greatest + 1 ? 0x7f800000u : 0x7fc00000u;
    }
    return __uint_as_float((x & 0x80u) << 24 | wide);
  }

  // To nearest, ties to even. What is too large becomes the greatest number, also infinity; each NaN becomes the one
  // of all ones.
  DEVICE unsigned narrow(float x)
  {
    const unsigned all = __float_as_uint(x), size = all & 0x7fffffffu, sign = all >> 24 & 0x80u;
    if (size > 0x7f800000u) {
      return 0x7fu;
    }
    if (size >= (greatest << drop) + rebias) {
      return sign | greatest;
    }
    if (size < rebias + (1u << 23)) {
      return sign | (__float_as_uint(__uint_as_float(size) + __uint_as_float(step)) - step);
    }
    const unsigned v = size - rebias;
    return sign | (v + (1u << (drop - 1)) - 1 + (v >> drop & 1)) >> drop;
  }
};

struct e4m3 : eight<3, 7, 0x7e, false> {};
struct e5m2 : eight<2, 15, 0x7b, true> {};
