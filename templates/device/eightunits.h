// Units of elements of 8 bits: 8 bytes.

template <>
struct unit<e4m3> { u64 bytes; };

DEVICE unsigned bits_of(const unit<e4m3> &v, unsigned k) { return (unsigned)(v.bytes >> 8 * k) & 0xffu; }

DEVICE void set_element(unit<e4m3> &v, unsigned k, unsigned bits) { v.bytes |= (u64)bits << 8 * k; }

DEVICE void shift_in(unit<e4m3> &v, unsigned bits) { v.bytes = v.bytes >> 8 | (u64)bits << 56; }

template <>
__device__ __forceinline__ unit<e4m3> load_unit<e4m3>(const char *from, u64 at) { return {*(const u64 *)(from + at)}; }

DEVICE void store_unit(char *to, u64 at, const unit<e4m3> &v) { *(u64 *)(to + at) = v.bytes; }
