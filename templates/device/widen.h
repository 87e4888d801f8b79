// Sums that are kept in fp32: element i is the terms' elements i, added in the order of the terms, with no rounding
// after that.

// sum_in_fp32 is a thread's part in a sum of n terms and of a row: by units of 16 bytes of the terms where those are
// aligned alike and what they make is aligned too, and the elements before the first unit and after the last one by
// one.
template <typename E, typename Row = no_row>
DEVICE void sum_in_fp32(char *dst, const char *const *terms, unsigned n, u64 count, struct Threads thread,
                        Row row = Row())
{
  typedef typename E::bits bits;
  enum { unit = 16 / sizeof(bits) };
  u64 apart = 0;
  for (unsigned t = 1; t < n; t++) {
    apart |= (u64)terms[t] ^ (u64)terms[0];
  }
  u64 head = (0 - (u64)terms[0]) % 16 / sizeof(bits);
  head = head < count && apart % 16 == 0 && ((u64)dst + head * 4) % 16 == 0 ? head : count;
  const u64 units = (count - head) / unit;
  for (u64 i = thread.first; i < units; i += thread.stride) {
    const u64 at = head + i * unit;
    float x[unit];
    for (unsigned k = 0; k < unit; k++) {
      x[k] = -0.0f;  // whatever is added to -0 stays as it is
    }
    for (unsigned t = 0; t < n; t++) {
      add<E>(x, *(const uint4 *)(terms[t] + at * sizeof(bits)));
    }
    row.add(x, at, unit);
    for (unsigned k = 0; k < unit; k += 4) {
      uint4 v;
      v.x = __float_as_uint(x[k]);
      v.y = __float_as_uint(x[k + 1]);
      v.z = __float_as_uint(x[k + 2]);
      v.w = __float_as_uint(x[k + 3]);
      *(uint4 *)(dst + (at + k) * 4) = v;
    }
  }
  const u64 middle = units * unit;
  for (u64 i = thread.first; i < count - middle; i += thread.stride) {
    const u64 at = i < head ? i : i + middle;
    float x = E::widen(((const bits *)terms[0])[at]);
    for (unsigned t = 1; t < n; t++) {
      x += E::widen(((const bits *)terms[t])[at]);
    }
    row.add(&x, at, 1);
    ((float *)dst)[at] = x;
  }
}
