// What a sum reads beside its terms: n elements of an operand, as many as a unit has or fewer, from the sum's element
// first on. Those behind the last one are 0.

template <typename E, unsigned unit>
DEVICE void in_place(float (&to)[unit], const char *from, u64 first, unsigned n)
{
  typedef typename E::bits bits;
  enum { of_16 = 16 / sizeof(bits) };
  if (unit % of_16 == 0 && n == unit && ((u64)from + first * sizeof(bits)) % 16 == 0) {
    for (unsigned k = 0; k < unit; k += of_16) {
      for (unsigned i = k; i < k + of_16 && i < unit; i++) {
        to[i] = -0.0f;  // whatever is added to -0 stays as it is
      }
      add<E>(to + k, *(const uint4 *)(from + (first + k) * sizeof(bits)));
    }
    return;
  }
  for (unsigned k = 0; k < unit; k++) {
    to[k] = k < n ? element_at<E>(from, first + k) : 0.0f;
  }
}

// by_column is of the columns of the elements from a cell on, by_row of their rows.
template <typename E, unsigned unit>
DEVICE void by_column(float (&to)[unit], const char *from, struct Cell c, u64 columns, unsigned n)
{
  if (n == unit && c.column + unit <= columns) {
    in_place<E>(to, from, c.column, n);
    return;
  }
  for (unsigned k = 0; k < unit; k++, c = advance(c, {0, 1}, columns)) {
    to[k] = k < n ? element_at<E>(from, c.column) : 0.0f;
  }
}

template <typename E, unsigned unit>
DEVICE void by_row(float (&to)[unit], const char *from, struct Cell c, u64 columns, unsigned n)
{
  for (unsigned k = 0; k < unit; k++, c = advance(c, {0, 1}, columns)) {
    to[k] = k < n ? element_at<E>(from, c.row) : 0.0f;
  }
}
