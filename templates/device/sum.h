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

// A sum may end with a function of each element, which it applies to n elements from one on before it rounds them;
// no_function does nothing.
struct no_function {
  template <unsigned unit>
  __device__ __forceinline__ void operator()(float (&)[unit], u64, unsigned) const {}
};

// sum is a thread's part in a sum of n terms, of elements from one on in dst and in each of the terms. It
// goes by units of 16 bytes of the terms where these are aligned alike and what they make is aligned too, and by one
// before the first unit and after the last. Elements of dst may be larger.
template <typename E, typename To = E, typename Finish = no_function>
DEVICE void sum(char *dst, const char *const *terms, unsigned n, u64 from, u64 count, struct Threads thread,
                Finish finish = Finish())
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
      if (i + u * stride < units) {
        finish(x[u], start + (i + u * stride) * unit, unit);
      }
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
    float x[1] = {E::widen(((const bits *)terms[0])[at])};
    for (unsigned t = 1; t < n; t++) {
      x[0] += E::widen(((const bits *)terms[t])[at]);
    }
    finish(x, at, 1);
    ((typename To::bits *)dst)[at] = (typename To::bits)To::narrow(x[0]);
  }
}
