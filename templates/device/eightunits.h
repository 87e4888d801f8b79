// Units of elements of 8 bits: 8 bytes, of each type alike.

#define UNITS_OF_8_BITS(E) \
template <> \
struct unit<E> { u64 bytes; }; \
\
DEVICE unsigned bits_of(const unit<E> &v, unsigned k) { return (unsigned)(v.bytes >> 8 * k) & 0xffu; } \
\
DEVICE void set_element(unit<E> &v, unsigned k, unsigned bits) { v.bytes |= (u64)bits << 8 * k; } \
\
DEVICE void shift_in(unit<E> &v, unsigned bits) { v.bytes = v.bytes >> 8 | (u64)bits << 56; } \
\
template <> \
__device__ __forceinline__ unit<E> load_unit<E>(const char *from, u64 at) { return {*(const u64 *)(from + at)}; } \
\
DEVICE void store_unit(char *to, u64 at, const unit<E> &v) { *(u64 *)(to + at) = v.bytes; }

UNITS_OF_8_BITS(e4m3)
UNITS_OF_8_BITS(e5m2)

#define NARROWED_BY_TWO(E) \
template <typename F> \
DEVICE unit<E> narrowed(E, F f) \
{ \
  const unsigned low = E::two(f(0), f(1)) | E::two(f(2), f(3)) << 16; \
  return {low | (u64)(E::two(f(4), f(5)) | E::two(f(6), f(7)) << 16) << 32}; \
}

NARROWED_BY_TWO(e4m3)
NARROWED_BY_TWO(e5m2)
