// What functions of each element read beside the elements themselves: an element for each column, or for each row.

// A thread loads this many units of each operand before it uses them.
enum { units_ahead = 2 };

// Cell is where an element lies in rows. 32 bits hold the elements of a launch, and a division of 64 bits takes as long
// as a load.
struct Cell { unsigned row, column; };

DEVICE struct Cell cell_of(u64 at, u64 columns)
{
  const unsigned of = columns > 0 ? (unsigned)columns : 1;  // the first launch has none
  return {(unsigned)at / of, (unsigned)at % of};
}

// advance is the cell so many rows and columns on, which are less than a row.
DEVICE struct Cell advance(struct Cell c, struct Cell by, u64 columns)
{
  c.row += by.row;
  c.column += by.column;
  if (c.column >= columns) {
    c.row++;
    c.column -= (unsigned)columns;
  }
  return c;
}

// of_columns is the unit for eight elements from a cell on: those of their columns. Together: these lie in one row, and
// are aligned.
template <typename E>
DEVICE unit<E> of_columns(const char *from, struct Cell c, u64 columns, bool together)
{
  if (together) {
    return load_unit<E>(from, c.column);
  }
  unit<E> v = {};
#pragma unroll 1
  for (unsigned k = 0; k < unit_elements; k++, c = advance(c, {0, 1}, columns)) {
    shift_in(v, ((const typename E::bits *)from)[c.column]);
  }
  return v;
}

// of_rows is the unit for eight elements from a cell on: those of their rows, most often of one.
template <typename E>
DEVICE unit<E> of_rows(const char *from, struct Cell c, u64 columns)
{
  unit<E> v = {};
  if (c.column + unit_elements <= columns) {
    const unsigned one = ((const typename E::bits *)from)[c.row];
#pragma unroll
    for (unsigned k = 0; k < unit_elements; k++) {
      set_element(v, k, one);
    }
    return v;
  }
#pragma unroll 1
  for (unsigned k = 0; k < unit_elements; k++, c = advance(c, {0, 1}, columns)) {
    shift_in(v, ((const typename E::bits *)from)[c.row]);
  }
  return v;
}
