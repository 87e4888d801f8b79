// A test of products of few rows by the tensor cores, as they are in the .cu: two clusters of blocks, by slices that
// they share out and by columns.
#include "hopper.h"

#include "../check/check.cu"

enum { most = 40, blocks = 4 };

static int failures;

static float digit(unsigned seed, unsigned i) { return (float)((int)((seed * 31 + i * 2654435761u) >> 28) % 3 - 1); }

static unsigned short *digits(unsigned seed, unsigned count, float by = 1)
{
  unsigned short *const to = (unsigned short *)room(count * 2);
  for (unsigned i = 0; i < count; i++) {
    to[i] = (unsigned short)bits_of(1, digit(seed, i) * by);
  }
  return to;
}

static struct Map map(const unsigned short *at, unsigned rows, unsigned depth, unsigned box)
{
  return {{(u64)at, 1, rows, depth, box}};
}

// product is a launch of four blocks.
static struct fewboxes product(const unsigned short *a, const unsigned short *b, unsigned short *c, unsigned rows,
                               unsigned box, unsigned depth, unsigned columns, bool halved)
{
  const unsigned runs = halved ? blocks / 2 : blocks, parts = columns / 16, tiles = (parts + runs * 4 - 1) / (runs * 4);
  struct fewboxes p = {};
  p.parts = parts / runs / tiles;
  p.halved = halved;
  p.rows_of_a = map(a, rows, depth, box);
  p.fewer = map(b, columns, depth, 16 * (unsigned)(p.parts > 0 ? p.parts : 1));
  p.more = map(b, columns, depth, 16 * (unsigned)(p.parts + 1));
  p.of.dst = (char *)c;
  p.of.rows = rows, p.of.depth = depth, p.of.columns = columns;
  return p;
}

static void begin()
{
  arena_used = 0;
  fibers.clear();
  flights.clear();
}

static bool finish(const Launch &last)
{
  while (last.left > 0) {
    if (!turn()) {
      printf("the threads wait for each other\n");
      return false;
    }
  }
  return true;
}

// Runs a product of so many rows by a kernel for at most box.
template <void (*kernel)(const struct fewboxes)>
static bool play(unsigned rows, unsigned box, unsigned depth, unsigned columns, bool halved, bool with)
{
  begin();
  unsigned short *const a = digits(1, rows * depth), *const b = digits(2, columns * depth);
  unsigned short *const c = digits(3, most * columns), *const bias = digits(4, columns);
  memset(c, 0xee, most * columns * 2);
  struct fewboxes p = product(a, b, c, rows, box, depth, columns, halved);
  p.of.bias = with ? (const char *)bias : nullptr;
  if (!finish(*start(blocks, 2, 192, [p] { kernel(p); }))) {
    return false;
  }
  for (unsigned i = 0; i < most * columns; i++) {
    float want = with ? digit(4, i % columns) : 0;
    for (unsigned k = 0; k < depth && i < rows * columns; k++) {
      want += digit(1, i / columns * depth + k) * digit(2, i % columns * depth + k);
    }
    const unsigned bits = i < rows * columns ? bits_of(1, rounded(1, want)) : 0xeeee;
    if (c[i] != bits && failures++ < 5) {
      printf("%u rows, depth %u, %u columns: element %u is %04x, want %04x\n", rows, depth, columns, i, c[i], bits);
    }
  }
  return failures == 0;
}

// Runs a product by a kernel that applies swiglu to its results, or what else it makes of them.
template <void (*kernel)(const struct fewboxes)>
static bool makes(unsigned rows, unsigned box, unsigned depth, unsigned columns, bool halved, bool swiglu)
{
  const float by = 1.0078125f;  // sums of its square are rounded
  begin();
  unsigned short *const a = digits(1, rows * depth, by), *const b = digits(2, columns * depth, by);
  unsigned short *const c = digits(3, most * columns), *const made = digits(4, most * columns);
  unsigned short *const beside = digits(5, most * columns), *const residual = digits(6, most * columns);
  unsigned short *const of_column = digits(7, columns), *const of_row = digits(8, most);
  memset(made, 0xee, most * columns * 2);
  struct fewboxes p = product(a, b, c, rows, box, depth, columns, halved);
  p.of.made = (char *)made;
  p.of.operands[0] = (const char *)(swiglu ? beside : of_column);
  p.of.operands[1] = (const char *)of_row;
  p.of.operands[2] = (const char *)beside;
  p.of.operands[3] = (const char *)residual;
  p.of.numbers[0] = .5;
  if (!finish(*start(blocks, 2, 192, [p] { kernel(p); }))) {
    return false;
  }
  for (unsigned i = 0; i < most * columns; i++) {
    float sum = 0;
    for (unsigned k = 0; k < depth && i < rows * columns; k++) {
      sum += digit(1, i / columns * depth + k) * by * digit(2, i % columns * depth + k) * by;
    }
    sum = (float)rounded(1, swiglu || sum > 0 ? sum : 0);
    float want = sum / (1 + expf(-sum)) * digit(5, i);
    if (!swiglu) {
      const float x = (sum + digit(7, i % columns)) * digit(8, i / columns) * .5f;
      want = 30 * tanhf(x / 30) * digit(5, i) + digit(6, i);
    }
    const unsigned of = i < rows * columns ? bits_of(1, sum) : bits_of(1, digit(3, i));
    const unsigned bits = i < rows * columns ? bits_of(1, rounded(1, want)) : 0xeeee;
    if ((made[i] != bits || c[i] != of) && failures++ < 5) {
      printf("%u rows, depth %u, %u columns: of element %u, %04x, is made %04x, want %04x and %04x\n", rows, depth,
             columns, i, c[i], made[i], of, bits);
    }
  }
  return failures == 0;
}

// Runs a product whose rows are made by the one before it, which it may start ahead of the end of.
static bool chain()
{
  enum { rows = 11, side = 256 };
  begin();
  unsigned short *const a = digits(1, rows * side), *const b = digits(2, side * side);
  unsigned short *const c = digits(3, rows * side), *const d = digits(4, side * side);
  unsigned short *const e = digits(5, rows * side);
  const struct fewboxes first = product(a, b, c, rows, 16, side, side, false);
  const struct fewboxes second = product(c, d, e, rows, 16, side, side, false);
  const auto before = start(blocks, 2, 192, [first] { fewrows16_bf16(first); });
  const auto behind = start(blocks, 2, 192, [second] { fewrows16_bf16(second); });
  behind->before = before.get();
  if (!finish(*behind)) {
    return false;
  }
  for (unsigned i = 0; i < rows * side; i++) {
    float want = 0;
    for (unsigned k = 0; k < side; k++) {
      float made = 0;
      for (unsigned j = 0; j < side; j++) {
        made += digit(1, i / side * side + j) * digit(2, k * side + j);
      }
      want += (float)rounded(1, made) * digit(4, i % side * side + k);
    }
    if (e[i] != bits_of(1, rounded(1, want)) && failures++ < 5) {
      printf("a product of a product: element %u is %04x, want %g\n", i, e[i], want);
    }
  }
  return failures == 0;
}

int main(int argc, char **argv)
{
  chance = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const bool right = play<fewrows16_bf16>(11, 16, 512, 16 * 5, true, true) &&
                     play<fewrows16_bf16>(16, 16, 1280, 16 * 8, true, false) &&
                     play<fewrows64_bf16>(40, 64, 768, 16 * 18, false, true) &&
                     play<fewrows64_bf16>(33, 64, 256, 16 * 3, false, false) && chain() &&
                     makes<fewrows16_made2_bf16>(11, 16, 512, 16 * 5, true, false) &&
                     makes<fewrows64_made1_bf16>(33, 64, 256, 16 * 18, false, true);
  return right ? 0 : 1;
}
