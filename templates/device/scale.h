// Operations of fp32 for the scales of codes.

// f_finite is a, or 0 where that is infinite or no number.
DEVICE float f_finite(float a)
{
  return __uint_as_float(__float_as_uint(a) & 0x7fffffffu) < __uint_as_float(0x7f800000u) ? a : 0.0f;
}

// f_power is the least power of two that is no less than the size of a: from 2^-126 to 2^126. A number that is no such
// power has digits, and is less than the next exponent's.
DEVICE float f_power(float a)
{
  const unsigned exponent = ((__float_as_uint(a) & 0x7fffffffu) + 0x7fffffu) >> 23;
  return __uint_as_float((exponent < 1 ? 1 : exponent > 253 ? 253 : exponent) << 23);
}

// f_up is the least number of e4m3 that is no less than the size of a: from 2^-9 to 448. Of NaN it is NaN.
DEVICE float f_up(float a)
{
  enum : unsigned { dropped = (1u << 20) - 1, least_normal = 121u << 23 };  // digits that e4m3 lacks, and 2^-6
  const unsigned size = __float_as_uint(a) & 0x7fffffffu;
  if (size > 0x7f800000u) {
    return a;
  }
  if (size < least_normal) {  // subnormals are the multiples of 2^-9
    const float steps = __fmul_rn(__uint_as_float(size), 512.0f), whole = (float)(int)steps;
    return __fmul_rn(f_greatest(whole < steps ? whole + 1.0f : whole, 1.0f), 0x1p-9f);
  }
  return f_least(__uint_as_float((size + dropped) & ~dropped), 448.0f);
}

// f_over_power is a over what f_power makes: a times the power of the opposite exponent, which is exact.
DEVICE float f_over_power(float a, float power)
{
  return __fmul_rn(a, __uint_as_float((254u << 23) - __float_as_uint(power)));
}
