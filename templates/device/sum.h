// Sums of tensors: element i is the terms' elements i, added in fp32 in the order of the terms and
// rounded once to nearest, ties to even. So every rank gets the same bits. Where a term is dst as well,
// the thread that reads an element writes it later, and no other thread touches it.

// A thread loads at_once units of in_flight terms before it adds them: a load of a peer's memory takes
// a microsecond.
enum { in_flight = 2, at_once = 4 };

// add adds the elements of 16 bytes, rounded makes 16 bytes of them.
template <typename E>
DEVICE void add(float *x, uint4 v)
{
  const unsigned words[4] = {v.x, v.y, v.z, v.w};
  for (unsigned i = 0; i < 16 / sizeof(typename E::bits); i++) {
    unsigned bits = words[i * sizeof(typename E::bits) / 4];
    if (sizeof(typename E::bits) == 2) {
      bits = i % 2 == 0 ? bits & 0xffffu : bits >> 16;
    }
    x[i] += E::widen(bits);
  }
}

template <typename E>
DEVICE uint4 rounded(const float *x)
{
  uint4 v = {};
  unsigned *const words[4] = {&v.x, &v.y, &v.z, &v.w};
  for (unsigned i = 0; i < 16 / sizeof(typename E::bits); i++) {
    const unsigned at = i * sizeof(typename E::bits);
    *words[at / 4] |= E::narrow(x[i]) << at % 4 * 8;
  }
  return v;
}

// no_row and each_row add to n elements from first on, after the terms: nothing, or the elements of a row
// that lies under each row.
struct no_row {
  __device__ __forceinline__ void add(float *, u64, unsigned) const {}
};

template <typename E>
struct each_row {
  const char *row;
  u64 columns;

  __device__ __forceinline__ void add(float *x, u64 first, unsigned n) const
  {
    u64 column = first % columns;
    for (unsigned i = 0; i < n; i++) {
      x[i] += E::widen(((const typename E::bits *)row)[column]);
      column = column + 1 == columns ? 0 : column + 1;
    }
  }
};

// sum is a thread's part in a sum of n terms and of a row, of elements from one on in dst and in each of the terms. It
// goes by units of 16 bytes of the terms where these are aligned alike and what they make is aligned too, and by one
// before the first unit and after the last. Elements of dst may be larger.
template <typename E, typename To = E, typename Row = no_row>
DEVICE void sum(char *dst, const char *const *terms, unsigned n, u64 from, u64 count, struct Threads thread,
                Row row = Row())
{
  typedef typename E::bits bits;
  enum { unit = 16 / sizeof(bits), of_16 = 16 / sizeof(typename To::bits) };
  const u64 stride = thread.stride;
  u64 apart = 0;
  for (unsigned t = 1; t < n; t++) {
    apart |= (u64)terms[t] ^ (u64)terms[0];
  }
  u64 head = (0 - (u64)terms[0] - from * sizeof(bits)) % 16 / sizeof(bits), units = 0;  // elements, 16 bytes
  if (apart % 16 == 0 && head < count && ((u64)dst + (from + head) * sizeof(typename To::bits)) % 16 == 0) {
    units = (count - head) / unit;
  } else {
    head = count;
  }
  const u64 start = from + head;
  for (u64 i = thread.first; i < units; i += at_once * stride) {
    float x[at_once][unit];
    for (unsigned u = 0; u < at_once; u++) {
      for (unsigned k = 0; k < unit; k++) {
        x[u][k] = -0.0f;  // whatever is added to -0 stays as it is
      }
    }
    for (unsigned t = 0; t < n; t += in_flight) {
      uint4 v[in_flight][at_once] = {};
      for (unsigned j = 0; j < in_flight; j++) {
        for (unsigned u = 0; u < at_once; u++) {
          if (t + j < n && i + u * stride < units) {
            v[j][u] = *(const uint4 *)(terms[t + j] + (start + (i + u * stride) * unit) * sizeof(bits));
          }
        }
      }
      for (unsigned j = 0; j < in_flight; j++) {
        for (unsigned u = 0; u < at_once; u++) {
          if (t + j < n) {
            add<E>(x[u], v[j][u]);
          }
        }
      }
    }
    for (unsigned u = 0; u < at_once; u++) {
      row.add(x[u], start + (i + u * stride) * unit, unit);
    }
    for (unsigned u = 0; u < at_once; u++) {
      if (i + u * stride < units) {
        for (unsigned k = 0; k < unit; k += of_16) {
          const u64 at = start + (i + u * stride) * unit + k;
          *(uint4 *)(dst + at * sizeof(typename To::bits)) = rounded<To>(x[u] + k);
        }
      }
    }
  }
  const u64 middle = units * unit;
  for (u64 i = thread.first; i < count - middle; i += stride) {
    const u64 at = from + (i < head ? i : i + middle);
    float x = E::widen(((const bits *)terms[0])[at]);
    for (unsigned t = 1; t < n; t++) {
      x += E::widen(((const bits *)terms[t])[at]);
    }
    row.add(&x, at, 1);
    ((typename To::bits *)dst)[at] = (typename To::bits)To::narrow(x);
  }
}
