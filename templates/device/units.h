// Units of 8 elements that lie together: 16 bytes of a type of 16 bits, and 32 of fp32.

enum { unit_elements = 8 };

// unit is one as it lies in memory.
template <typename E>
struct unit {
  uint4 words[sizeof(typename E::bits) / 2];
};

// bits_of are the bits of element k of a unit, and element is its value.
template <typename E>
DEVICE typename E::bits bits_of(const unit<E> &v, unsigned k)
{
  const unsigned at = k * sizeof(typename E::bits);
  const uint4 &four = v.words[at / 16];
  const unsigned words[4] = {four.x, four.y, four.z, four.w};
  return (typename E::bits)(words[at / 4 % 4] >> at % 4 * 8);
}

template <typename E>
DEVICE float element(const unit<E> &v, unsigned k)
{
  return E::widen(bits_of(v, k));
}

// set_element adds the bits of element k to a unit that has none there.
template <typename E>
DEVICE void set_element(unit<E> &v, unsigned k, unsigned bits)
{
  const unsigned at = k * sizeof(typename E::bits);
  uint4 &four = v.words[at / 16];
  unsigned *const words[4] = {&four.x, &four.y, &four.z, &four.w};
  *words[at / 4 % 4] |= bits << at % 4 * 8;
}

// narrowed is the unit whose element k is f(k).
template <typename E, typename F>
DEVICE unit<E> narrowed(E, F f)
{
  unit<E> v = {};
  for (unsigned k = 0; k < unit_elements; k++) {
    set_element(v, k, E::narrow(f(k)));
  }
  return v;
}

// shift_in takes a unit's elements one place down, and puts one behind them; shift_out takes the first one out. Loops
// that are not unrolled use them, where eight elements lie apart: a register has no address.
template <typename E>
DEVICE unsigned next_word(unsigned low, unsigned high)
{
  return sizeof(typename E::bits) == 4 ? high : low >> 16 | high << 16;
}

template <typename E>
DEVICE void shift_in(unit<E> &v, unsigned bits)
{
  enum { count = sizeof(v.words) / 16 };
  for (unsigned i = 0; i < count; i++) {
    uint4 &four = v.words[i];
    four.x = next_word<E>(four.x, four.y);
    four.y = next_word<E>(four.y, four.z);
    four.z = next_word<E>(four.z, four.w);
    four.w = next_word<E>(four.w, i + 1 < count ? v.words[(i + 1) % count].x : bits);
  }
}

template <typename E>
DEVICE typename E::bits shift_out(unit<E> &v)
{
  const typename E::bits first = bits_of(v, 0);
  shift_in(v, 0);
  return first;
}

// aligned is whether an element is the first of 16 bytes.
template <typename E>
DEVICE bool aligned(const char *from, u64 at)
{
  return ((u64)from + at * sizeof(typename E::bits)) % 16 == 0;
}

// element_at is an element.
template <typename E>
DEVICE float element_at(const char *from, u64 at)
{
  return E::widen(((const typename E::bits *)from)[at]);
}

// load_unit is the unit from an aligned element on, and store_unit writes one there.
template <typename E>
DEVICE unit<E> load_unit(const char *from, u64 at)
{
  unit<E> v;
  for (unsigned i = 0; i < sizeof(v.words) / 16; i++) {
    v.words[i] = ((const uint4 *)(from + at * sizeof(typename E::bits)))[i];
  }
  return v;
}

template <typename E>
DEVICE void store_unit(char *to, u64 at, const unit<E> &v)
{
  for (unsigned i = 0; i < sizeof(v.words) / 16; i++) {
    ((uint4 *)(to + at * sizeof(typename E::bits)))[i] = v.words[i];
  }
}
