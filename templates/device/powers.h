// Scales of 8 bits that are powers of two, ue8m0: what OCP and NVIDIA define, by operations that every GPU has.
// Blackwell has instructions for them. They have no sign and no zero; the code of all ones is NaN.

struct ue8m0 {
  typedef unsigned char bits;

  // A code is a float's exponent; that of 0 is half the least number with all digits.
  DEVICE float widen(unsigned x)
  {
    return __uint_as_float(x == 0 ? 1u << 22 : x < 255 ? x << 23 : 0x7fc00000u);
  }

  // The least power that is no less than the size of a number, or the greatest one. Digits take a size up to the next
  // exponent.
  DEVICE unsigned narrow(float x)
  {
    const unsigned size = __float_as_uint(x) & 0x7fffffffu, up = (size + 0x7fffffu) >> 23;
    return size > 0x7f800000u ? 255 : size <= 1u << 22 ? 0 : up > 254 ? 254 : up;
  }
};

UNITS_OF_8_BITS(ue8m0)

// f_loud_power is f_power, and of NaN NaN.
DEVICE float f_loud_power(float a) { return a == a ? f_power(a) : a; }
