// Rotary embedding: columns j and j + width / 2 of each head are turned by an angle of the row, in fp32, and rounded
// once. The table has a row for each row: cosines, and then sines. Who reads an element of the operand that is dst as
// well writes it later, and no one else does either.

template <typename E>
DEVICE void turn_heads(char *dst, const char *src, u64 count, const char *table, u64 entries, u64 width,
                       struct Threads thread)
{
  typedef typename E::bits bits;
  const u64 rows = width > 0 ? entries / width : 0;  // the first launch has neither
  const unsigned half = (unsigned)(width / 2);       // 32 bits, of which a division is cheap
  const u64 columns = rows > 0 ? count / rows : 0, pairs = columns / 2;
  for (u64 i = thread.first; i < rows * pairs; i += thread.stride) {
    const u64 row = i / pairs;
    const unsigned pair = (unsigned)(i % pairs), j = pair % half;
    const u64 first = row * columns + pair / half * width + j;
    const bits *const angle = (const bits *)table + row * width + j;
    const float cosine = E::widen(angle[0]), sine = E::widen(angle[half]);
    const float x = E::widen(((const bits *)src)[first]), y = E::widen(((const bits *)src)[first + half]);
    ((bits *)dst)[first] = (bits)E::narrow(x * cosine - y * sine);
    ((bits *)dst)[first + half] = (bits)E::narrow(y * cosine + x * sine);
  }
}
