// Elements of fp32, each rounded once to nearest, ties to even.

// from_fp32 is a thread's part in that: by units of 16 bytes of dst where both sides are aligned to it, and the
// elements before the first unit and after the last one by one. Elements of fp32 itself may stay where they are.
template <typename E>
DEVICE void from_fp32(char *dst, const char *from, u64 count, struct Threads thread)
{
  typedef typename E::bits bits;
  enum { unit = 16 / sizeof(bits) };
  u64 head = (0 - (u64)dst) % 16 / sizeof(bits);
  head = head < count && ((u64)from + head * 4) % 16 == 0 ? head : count;
  const u64 units = (count - head) / unit;
  for (u64 i = thread.first; i < units; i += thread.stride) {
    const u64 at = head + i * unit;
    float x[unit];
    for (unsigned k = 0; k < unit; k += 4) {
      const uint4 v = *(const uint4 *)(from + (at + k) * 4);
      x[k] = __uint_as_float(v.x);
      x[k + 1] = __uint_as_float(v.y);
      x[k + 2] = __uint_as_float(v.z);
      x[k + 3] = __uint_as_float(v.w);
    }
    *(uint4 *)(dst + at * sizeof(bits)) = rounded<E>(x);
  }
  const u64 middle = units * unit;
  for (u64 i = thread.first; i < count - middle; i += thread.stride) {
    const u64 at = i < head ? i : i + middle;
    ((bits *)dst)[at] = (bits)E::narrow(((const float *)from)[at]);
  }
}
