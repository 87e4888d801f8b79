// Weights of eight bits, e4m3, as the tensor cores take them: numbers of 16 bits, which have all numbers of eight. A
// code's exponent and digits are moved to where a number of 16 bits has them, which makes a number that is smaller by a
// power of two, and that is multiplied. So a NaN would become 480, and is told apart.

// A code is a byte, here the upper one of a half of a word. coding says by how many bits it has to be moved, which bits
// of both halves it then has beside the sign, and by what it is multiplied.
template <typename E>
struct coding;

template <>
struct coding<struct bf16> {
  enum : unsigned { down = 4, digits = 0x07f007f0u, factor = 0x7b807b80u };  // 2^120
};

template <>
struct coding<struct fp16> {
  enum : unsigned { down = 1, digits = 0x3f803f80u, factor = 0x5c005c00u };  // 2^8
};

#if defined(OVGEN_HOST) || defined(OVGEN_LOOPS)

// times is two exact products.
template <typename E>
DEVICE unsigned times(E, unsigned x, unsigned y)
{
  const float low = E::widen(x & 0xffff) * E::widen(y & 0xffff), high = E::widen(x >> 16) * E::widen(y >> 16);
  return E::narrow(low) | (unsigned)E::narrow(high) << 16;
}

#else

DEVICE unsigned times(struct bf16, unsigned x, unsigned y)
{
  asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(0x80008000u));  // a zero that keeps each sign
  return x;
}

DEVICE unsigned times(struct fp16, unsigned x, unsigned y)
{
  asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
  return x;
}

#endif

// coded is the type of a weight's elements where they are codes.
struct coded {
  enum { bytes = 1, scaled = 1 };

  // A lane takes what it has put.
  DEVICE unsigned put() { return threadIdx.x; }
  DEVICE uint4 take(const uint4 *at) { return at[threadIdx.x]; }

  // two are the numbers of two codes, the lower bytes of a word.
  template <typename E>
  DEVICE unsigned two(unsigned codes)
  {
    const unsigned apart = (codes & 0xffu) << 8 | (codes & 0xff00u) << 16;
    return times(E(), (apart & 0x80008000u) | (apart >> coding<E>::down & coding<E>::digits), coding<E>::factor);
  }

  // nans has bit 7 of each byte that is the code of a NaN.
  DEVICE unsigned nans(unsigned codes) { return ((codes & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u; }

  // spoiled are ones where two codes are NaNs.
  DEVICE unsigned spoiled(unsigned nans) { return (nans >> 7 & 1) * 0x7fffu | (nans >> 15 & 1) * 0x7fff0000u; }

  // of are the numbers of one half of 16 codes.
  template <typename E>
  DEVICE uint4 of(const uint4 &x, unsigned half)
  {
    const unsigned first = half == 0 ? x.x : x.z, second = half == 0 ? x.y : x.w;
    uint4 y = {two<E>(first), two<E>(first >> 16), two<E>(second), two<E>(second >> 16)};
    if ((nans(first) | nans(second)) != 0) {
      y = {y.x | spoiled(nans(first)), y.y | spoiled(nans(first) >> 16), y.z | spoiled(nans(second)),
           y.w | spoiled(nans(second) >> 16)};
    }
    return y;
  }
};

// squared is coded with a scale for each square of 128 x 128 codes, by which what 32 codes of a row add is multiplied.
struct squared : coded {
  enum { scaled = 2 };
};
