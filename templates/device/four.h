// Elements of 4 bits, two in a byte, the first one in its low bits: what OCP and NVIDIA define, by operations that
// every GPU has. No GPU before compute capability 10.0 has instructions for them.

struct e2m1 {
  typedef unsigned char bits;

  // As the first digits of a float a code is the number times 2^-126, subnormal or not.
  DEVICE float widen(unsigned x)
  {
    const float size = __fmul_rn(__uint_as_float((x & 7u) << 22), 0x1p126f);
    return __uint_as_float(__float_as_uint(size) | (x & 8u) << 28);
  }

  // To nearest, ties to even, as types of 8 bits are rounded. What is too large becomes the greatest number, 6, also
  // infinity; and so does each NaN, without its sign: there is none.
  DEVICE unsigned narrow(float x)
  {
    const unsigned least = 127u << 23, most = 0x40c00000u;  // 1 and 6
    const unsigned all = __float_as_uint(x), whole = all & 0x7fffffffu, size = whole < most ? whole : most;
    const unsigned power = (size > least ? size : least) & 0x7f800000u, coarse = power + (22u << 23);
    const unsigned sum = __float_as_uint(__uint_as_float(size) + __uint_as_float(coarse));
    const unsigned code = sum - coarse + ((power - least) >> 22);
    return whole > 0x7f800000u ? 7u : (all >> 28 & 8u) | code;
  }
};

// Their units: 4 bytes.

template <>
struct unit<e2m1> { unsigned word; };

DEVICE unsigned bits_of(const unit<e2m1> &v, unsigned k) { return v.word >> 4 * k & 15u; }

DEVICE void set_element(unit<e2m1> &v, unsigned k, unsigned bits) { v.word |= bits << 4 * k; }

template <>
__device__ __forceinline__ bool aligned<e2m1>(const char *from, u64 at)
{
  return (u64)from % 4 == 0 && at % unit_elements == 0;
}

template <>
__device__ __forceinline__ float element_at<e2m1>(const char *from, u64 at)
{
  return e2m1::widen((unsigned)((const unsigned char *)from)[at / 2] >> at % 2 * 4);
}

template <>
__device__ __forceinline__ unit<e2m1> load_unit<e2m1>(const char *from, u64 at)
{
  return {*(const unsigned *)(from + at / 2)};
}

DEVICE void store_unit(char *to, u64 at, const unit<e2m1> &v) { *(unsigned *)(to + at / 2) = v.word; }

// store_at of groups, which have an even number of columns: a thread stores whole bytes.
template <typename E>
DEVICE void store_at(char *to, bool together, u64 at, unsigned n, unsigned width, unit<E> v);

template <>
__device__ __forceinline__ void store_at<e2m1>(char *to, bool together, u64 at, unsigned n, unsigned width,
    unit<e2m1> v)
{
  const unsigned j = n * unit_elements;
  if (together) {
    store_unit(to, at + j, v);
    return;
  }
  for (unsigned k = 0; k < unit_elements && j + k < width; k += 2) {
    to[(at + j + k) / 2] = (char)(v.word >> 4 * k & 0xffu);
  }
}
