// Ranks that use the kernels as programs do, round after round, each in its own order: a
// list of steps a rank, for whoever has a way of running kernels.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "expect.h"
#include "list.h"
#include "numbers.h"
#include "sizes.h"
#include "word.h"

enum { rounds = 4, all_elements = 203, columns = 29 };  // in seven rows
enum { sent = 170, units = (sent * 4 + 15) / 16 };  // elements that go to each rank; 16 bytes of the largest

// A step is a launch of a kernel or, without one, what the rank's host does.
struct Step {
  std::string kernel;  // empty: none
  std::vector<u64> params;  // aligned for any struct of parameters
  unsigned blocks;
  std::function<void()> host;
  unsigned width;  // threads of a block
};

// The memory of one rank.
struct Rank {
  Word ready[ranks], read[ranks];  // one a peer
  Word ready_by[blocks][ranks], read_by[blocks][ranks];  // and one a block
  Word step, count, counts[15];  // the first counts blocks
  struct Landing {
    alignas(16) u64 landed[2][ranks][units * (2 + 4)];  // by half and sender: packets, and what lies beside them
    unsigned turns[blocks];
  } lands[3];  // the second is of sums, or of the first result that goes to all, the third of the second one
  struct Part {
    alignas(16) unsigned char data[sent * 4 + 8];
    Word words[blocks];
  } pushed[2][ranks];
  std::vector<unsigned char> term, sum, gathered[ranks], all, sums, behind;
  std::vector<unsigned short> shard, shards, weights, bias, added, slots, product;
  std::vector<Step> steps;
  unsigned numbered;  // waits
};

struct World {
  const char *name;
  Rank of[ranks];
};

// Buffers start somewhere within 16 bytes, alike or not.
static unsigned char *at(std::vector<unsigned char> &v, unsigned shift) { return v.data() + shift * 4; }

static unsigned wanted(unsigned type, unsigned rank, unsigned round, size_t i)
{
  return number(type, rank * 7919 + round * 104729 + (unsigned)i);
}

// Every round has its element type, where there are kernels of all.
#ifdef ONE_TYPE
static unsigned type_of(unsigned) { return ONE_TYPE; }
#else
static unsigned type_of(unsigned round) { return round % 3 + 1; }
#endif

static double number_of(unsigned rank, unsigned round, size_t i)
{
  return value(type_of(round), wanted(type_of(round), rank, round, i));
}

// A store that ThreadSanitizer sees: of a small memcpy the compiler makes one that it does not.
static void put_bits(unsigned type, unsigned char *to, size_t i, unsigned bits)
{
  if (type == 3) {
    ((unsigned *)to)[i] = bits;
  } else {
    ((unsigned short *)to)[i] = (unsigned short)bits;
  }
}

static void wrong(const World &w, unsigned rank, unsigned round, const char *what)
{
  if (failures++ < 5) {
    printf("%s: rank %u, round %u: %s\n", w.name, rank, round, what);
  }
}

// ----------------------------------------------------------------------------
// Steps

static void host(World &w, unsigned r, std::function<void()> f) { w.of[r].steps.push_back({"", {}, 0, f, 0}); }

template <typename Params>
static void launch(World &w, unsigned r, const std::string &kernel, const Params &p, unsigned grid,
                   unsigned width = threads)
{
  Step s = {kernel, std::vector<u64>((sizeof p + 7) / 8), grid, nullptr, width};
  memcpy(s.params.data(), &p, sizeof p);
  w.of[r].steps.push_back(s);
}

static void fill(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    for (size_t i = 0; i < all_elements; i++) {
      put_bits(type_of(round), at(w.of[r].term, r % 2), i, wanted(type_of(round), r, round, i));
    }
  });
}

// The words of a rank's peers that are its own, or its own that are its peers'.
typedef Word (Rank::*Set)[ranks];

static unsigned *theirs(World &w, Set set, unsigned r, unsigned peer) { return &(w.of[peer].*set)[r].value; }
static unsigned *own(World &w, Set set, unsigned r, unsigned peer) { return &(w.of[r].*set)[peer].value; }
static unsigned peer_of(unsigned r, unsigned i) { return (r + 1 + i) % ranks; }

static void post(World &w, unsigned r, Set set)
{
  struct post p = {};
  for (; p.count < ranks - 1; p.count++) {
    p.words[p.count] = theirs(w, set, r, peer_of(r, p.count));
  }
  launch(w, r, "post", p, 1);
}

static void wait(World &w, unsigned r, Set set)
{
  struct wait p = {};
  for (; p.count < ranks - 1; p.count++) {
    p.words[p.count] = own(w, set, r, peer_of(r, p.count));
  }
  p.step = &w.of[r].step.value;
  p.value = ++w.of[r].numbered;
  launch(w, r, "wait", p, 1);
}

// The step of a kernel that signals around its work, and the word in which its blocks count.
template <typename Params>
static void signals(World &w, unsigned r, Params &p)
{
  p.step = &w.of[r].step.value;
  p.blocks = &w.of[r].count.value;
  p.value = ++w.of[r].numbered;
}

// Those of a kernel whose blocks signal each for itself: the first block's, and how far the next ones' are.
typedef Word (Rank::*Sets)[blocks][ranks];

static unsigned *theirs(World &w, Sets set, unsigned r, unsigned peer) { return &(w.of[peer].*set)[0][r].value; }
static unsigned *own(World &w, Sets set, unsigned r, unsigned peer) { return &(w.of[r].*set)[0][peer].value; }

template <typename Params>
static void by_blocks(World &w, unsigned r, Params &p)
{
  p.step = &w.of[r].step.value;
  p.value = ++w.of[r].numbered;
  p.stride = ranks * sizeof(Word) / sizeof(unsigned);
  p.blocks = blocks;
}

// The kernels of an element type.
static std::string of(const char *kernel, unsigned type)
{
  return std::string(kernel) + (type == 1 ? "_bf16" : type == 2 ? "_fp16" : "_fp32");
}

// After a kernel that counts its blocks: the count is back at 0.
static void counted(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    if (w.of[r].count.value != 0) {
      wrong(w, r, round, "the count of blocks is not 0");
    }
  });
}

template <typename Params>
static void copied(World &w, Params &p, unsigned from, unsigned to, unsigned round)
{
  p.src = (const char *)at(w.of[from].term, from % 2);
  p.dst = (char *)at(w.of[to].gathered[from], to % 2);
  p.bytes = all_elements * size_of(type_of(round));
}

static void gathered(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    for (unsigned i = 0; i < ranks - 1; i++) {
      const unsigned from = peer_of(r, i);
      for (size_t j = 0; j < all_elements; j++) {
        if (get(type_of(round), at(w.of[r].gathered[from], r % 2), j) != wanted(type_of(round), from, round, j)) {
          return wrong(w, r, round, "what was copied is wrong");
        }
      }
    }
  });
}

// The terms of all ranks, or of the first n.
template <typename Params>
static void terms(World &w, unsigned r, Params &p, unsigned n = ranks)
{
  for (unsigned t = 0; t < n; t++) {
    p.terms[t] = (const char *)at(w.of[t].term, t % 2);
  }
  p.dst = (char *)at(w.of[r].sum, r % 2);
  p.count = all_elements;
}

// What functions make of the element i of a sum.
typedef std::function<float(float x, size_t i)> Finish;

// The sum of the first n terms and, behind them, what is made of that.
static void summed(World &w, unsigned r, unsigned round, unsigned n = ranks, Finish finish = nullptr)
{
  host(w, r, [&w, r, round, n, finish] {
    const unsigned type = type_of(round);
    for (size_t i = 0; i < all_elements; i++) {
      float x = (float)value(type, wanted(type, 0, round, i));
      for (unsigned t = 1; t < n; t++) {
        x += (float)value(type, wanted(type, t, round, i));
      }
      x = finish ? finish(x, i) : x;
      if (value(type, get(type, at(w.of[r].sum, r % 2), i)) != rounded(type, x)) {
        return wrong(w, r, round, "the sum is wrong");
      }
    }
  });
}

// ----------------------------------------------------------------------------
// The steps of a rank in one round, for each kind of kernel

template <typename Params>
static void copy_round(World &w, unsigned r, unsigned round, const char *kernel)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  for (unsigned i = 0; i < ranks - 1; i++) {
    Params p = {};
    copied(w, p, peer_of(r, i), r, round);
    launch(w, r, kernel, p, blocks);
  }
  gathered(w, r, round);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

template <typename Params>
static void reduced(World &w, unsigned r, unsigned round, const char *kernel)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  Params p = {};
  terms(w, r, p);
  p.n = ranks;
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  summed(w, r, round);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

static void reduce_round(World &w, unsigned r, unsigned round) { reduced<struct reduce>(w, r, round, "reduce"); }

static void reduce5_round(World &w, unsigned r, unsigned round) { reduced<struct reduce5>(w, r, round, "reduce5"); }

static void reduce2_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  struct reduce2 p = {};
  terms(w, r, p, 2);
  launch(w, r, of("reduce2", type_of(round)), p, blocks);
  summed(w, r, round, 2);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// A sum that is scaled, with a tensor behind.
static void reduce6_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  struct reduce6 p = {};
  terms(w, r, p);
  p.n = ranks;
  p.finish.a = (const char *)at(w.of[r].term, r % 2);
  launch(w, r, of("reduce6", type_of(round)), p, blocks);
  summed(w, r, round, ranks, [r, round](float x, size_t i) { return x * 0.25f + (float)number_of(r, round, i); });
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// A sum with a row behind its terms, and then a tensor.
static void reduce3_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  struct reduce3 p = {};
  terms(w, r, p);
  p.n = ranks;
  p.finish.a = (const char *)at(w.of[r].term, r % 2);
  p.finish.columns = columns;
  p.finish.b = (const char *)at(w.of[r].term, r % 2);
  launch(w, r, of("reduce3", type_of(round)), p, blocks);
  summed(w, r, round, ranks, [r, round](float x, size_t i) {
    return x + (float)number_of(r, round, i % columns) + (float)number_of(r, round, i);
  });
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// A sum with a tensor of the rank's own behind the ranks' terms.
static void reduce4_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  struct reduce4 p = {};
  terms(w, r, p);
  p.terms[ranks] = p.terms[r];
  p.n = ranks + 1;
  launch(w, r, of("reduce4", type_of(round)), p, blocks);
  summed(w, r, round, ranks, [r, round](float x, size_t i) { return x + (float)number_of(r, round, i); });
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// A function of the next rank's term: what it makes of element i, but for so much.
typedef std::function<double(size_t i, double &most)> Function;

// Of functions that count elements; others count rows.
template <typename Params>
static auto size(Params &p, size_t count, int) -> decltype((void)p.count)
{
  p.count = count;
}

template <typename Params>
static void size(Params &, size_t, long) {}

template <typename Params>
static void apply(World &w, unsigned r, unsigned round, const char *kernel, Params &p, Function f,
                  size_t count = all_elements)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  p.dst = (char *)at(w.of[r].sum, r % 2);
  size(p, count, 0);
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  host(w, r, [&w, r, round, f, count] {
    for (size_t i = 0; i < count; i++) {
      const unsigned type = type_of(round);
      double most = 0;
      const double want = f(i, most), got = value(type, get(type, at(w.of[r].sum, r % 2), i));
      if (!near(type, got, want) && std::fabs(got - want) > most) {
        return wrong(w, r, round, "the function is wrong");
      }
    }
  });
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

static const char *term(World &w, unsigned r) { return (const char *)at(w.of[r].term, r % 2); }
static unsigned next_of(unsigned r) { return peer_of(r, 0); }

// The mean of a power of what is left of a row's elements without their mean.
static double moment(unsigned r, unsigned round, size_t i, double mean, int power)
{
  double all = 0;
  for (size_t k = i - i % columns; k < i - i % columns + columns; k++) {
    all += std::pow(number_of(r, round, k) - mean, power) / columns;
  }
  return all;
}

// The gate of an MLP, as an expression.
static void elements_round(World &w, unsigned r, unsigned round)
{
  struct elements p = {};
  p.x = term(w, next_of(r));
  p.a = term(w, r);
  apply(w, r, round, "elements", p, [r, round](size_t i, double &) {
    return silu_in_double(number_of(next_of(r), round, i)) * number_of(r, round, i);
  });
}

// A tensor and, for each column, an element of a row.
static void elements2_round(World &w, unsigned r, unsigned round)
{
  struct elements2 p = {};
  p.x = term(w, next_of(r));
  p.a = term(w, r);
  p.columns = columns;
  apply(w, r, round, "elements2", p, [r, round](size_t i, double &) {
    return (float)(number_of(next_of(r), round, i) + number_of(r, round, i % columns));
  });
}

// As many elements of fp32 as the next rank's term has bytes for, whatever they are.
static void elements3_round(World &w, unsigned r, unsigned round)
{
  struct elements3 p = {};
  const size_t count = all_elements * size_of(type_of(round)) / 4;
  p.x = term(w, next_of(r));
  apply(w, r, round, "elements3", p, [r, round](size_t i, double &) {
    const unsigned type = type_of(round), from = next_of(r);
    if (type == 3) {
      return number_of(from, round, i);
    }
    return value(3, wanted(type, from, round, 2 * i) | wanted(type, from, round, 2 * i + 1) << 16);
  }, count);
}

// A norm of rows, and a tensor.
static void groups_round(World &w, unsigned r, unsigned round)
{
  struct groups p = {};
  p.x = term(w, next_of(r));
  p.a = term(w, r);
  p.b = term(w, peer_of(r, 1));
  p.rows = all_elements / columns;
  p.columns = columns;
  p.epsilon = 1e-6;
  apply(w, r, round, "groups", p, [r, round, p](size_t i, double &most) {
    const unsigned from = next_of(r);
    const double normed = number_of(from, round, i) / std::sqrt(moment(from, round, i, 0, 2) + p.epsilon) *
                          number_of(r, round, i % columns);
    const double want = normed + number_of(peer_of(r, 1), round, i);
    most = 1e-6 * std::fabs(normed) + std::fabs(want) * 0x1p-8;
    return want;
  });
}

// Heads turned in place, from where another kernel has put them.
static void groups2_round(World &w, unsigned r, unsigned round)
{
  const size_t width = 16, rows = 6, wide = 2 * width;
  const unsigned type = type_of(round);
  struct groups2 p = {};
  p.x = (const char *)at(w.of[r].sum, r % 2);
  p.a = term(w, r);
  p.rows = rows;
  p.columns = wide;
  p.width = width;
  host(w, r, [&w, r, round, type] {
    for (size_t i = 0; i < rows * wide; i++) {
      put_bits(type, at(w.of[r].sum, r % 2), i, wanted(type, r, round, i + 7));
    }
  });
  apply(w, r, round, "groups2", p, [r, round](size_t i, double &most) {
    const size_t j = i % width, angle = i / wide * width + j % (width / 2);
    const double x = number_of(r, round, i + 7), y = number_of(r, round, (i ^ width / 2) + 7);
    const double a = x * number_of(r, round, angle), b = y * number_of(r, round, angle + width / 2);
    most = 1e-6 * (std::fabs(a) + std::fabs(b)) + std::fabs(j < width / 2 ? a - b : a + b) * 0x1p-8;
    return j < width / 2 ? a - b : a + b;
  }, rows * wide);
}

// A sum that is kept in fp32, and what more says behind it.
template <typename Params>
static void widened(World &w, unsigned r, unsigned round, const char *kernel, Params &p,
                    std::function<double(size_t)> more = nullptr)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  terms(w, r, p);
  p.n = ranks;
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  host(w, r, [&w, r, round, more] {
    for (size_t i = 0; i < all_elements; i++) {
      float x = (float)number_of(0, round, i);
      for (unsigned t = 1; t < ranks; t++) {
        x += (float)number_of(t, round, i);
      }
      x += more ? (float)more(i) : -0.0f;
      if (value(3, get(3, at(w.of[r].sum, r % 2), i)) != x) {
        return wrong(w, r, round, "the sum is wrong");
      }
    }
  });
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

static void widen_round(World &w, unsigned r, unsigned round)
{
  struct widen p = {};
  p.finish.a = (const char *)at(w.of[r].term, r % 2);
  p.finish.columns = columns;
  widened(w, r, round, "widen", p, [r, round](size_t i) { return number_of(r, round, i % columns); });
}

static void get_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned from = peer_of(r, i);
    struct get p = {};
    signals(w, r, p);
    p.pre_wait = own(w, &Rank::ready, r, from);
    p.post_post = theirs(w, &Rank::read, r, from);
    copied(w, p, from, r, round);
    launch(w, r, "get", p, blocks);
    counted(w, r, round);
  }
  gathered(w, r, round);
  wait(w, r, &Rank::read);
}

// Here ready says that a destination may be written, and read that it has been.
static void put_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned to = peer_of(r, i);
    struct put p = {};
    signals(w, r, p);
    p.pre_wait = own(w, &Rank::ready, r, to);
    p.post_post = theirs(w, &Rank::read, r, to);
    copied(w, p, r, to, round);
    launch(w, r, "put", p, blocks);
    counted(w, r, round);
  }
  wait(w, r, &Rank::read);
  gathered(w, r, round);
}

template <typename Params>
static void pre_wait(World &w, unsigned r, Params &p)
{
  signals(w, r, p);
  for (; p.peers < ranks - 1; p.peers++) {
    p.pre_wait[p.peers] = own(w, &Rank::ready, r, peer_of(r, p.peers));
  }
}

template <typename Params>
static void pre_post(World &w, unsigned r, Params &p)
{
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.pre_post[i] = theirs(w, &Rank::ready, r, peer_of(r, i));
  }
}

template <typename Params>
static void post_post(World &w, unsigned r, Params &p)
{
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.post_post[i] = theirs(w, &Rank::read, r, peer_of(r, i));
  }
}

template <typename Params>
static void add_up(World &w, unsigned r, unsigned round, const char *kernel, Params &p)
{
  terms(w, r, p);
  p.n = ranks;
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  counted(w, r, round);
  summed(w, r, round);
}

// A shot that only waits.
static void shot4_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  struct shot4 p = {};
  pre_wait(w, r, p);
  add_up(w, r, round, "shot4", p);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// One that posts before it waits.
static void shot2_round(World &w, unsigned r, unsigned round)
{
  struct shot2 p = {};
  pre_wait(w, r, p);
  pre_post(w, r, p);
  add_up(w, r, round, "shot2", p);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// around has a kernel do all of its signalling itself.
template <typename Params>
static void around(World &w, unsigned r, Params &p)
{
  pre_wait(w, r, p);
  pre_post(w, r, p);
  post_post(w, r, p);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.post_wait[i] = own(w, &Rank::read, r, peer_of(r, i));
  }
}

static void shot_round(World &w, unsigned r, unsigned round)
{
  struct shot p = {};
  around(w, r, p);
  add_up(w, r, round, "shot", p);
}

// The same, with a tensor of the rank's own behind the ranks' terms.
static void shot6_round(World &w, unsigned r, unsigned round)
{
  struct shot6 p = {};
  around(w, r, p);
  terms(w, r, p);
  p.terms[ranks] = p.terms[r];
  p.n = ranks + 1;
  launch(w, r, of("shot6", type_of(round)), p, blocks);
  counted(w, r, round);
  summed(w, r, round, ranks, [r, round](float x, size_t i) { return x + (float)number_of(r, round, i); });
}

template <typename Params>
static void opening(World &w, unsigned r, Params &p)
{
  by_blocks(w, r, p);
  for (; p.peers < ranks - 1; p.peers++) {
    p.pre_post[p.peers] = theirs(w, &Rank::ready_by, r, peer_of(r, p.peers));
    p.pre_wait[p.peers] = own(w, &Rank::ready_by, r, peer_of(r, p.peers));
    p.post_post[p.peers] = theirs(w, &Rank::read_by, r, peer_of(r, p.peers));
  }
}

template <typename Params>
static void add_up_by_blocks(World &w, unsigned r, unsigned round, const char *kernel, Params &p)
{
  terms(w, r, p);
  p.n = ranks;
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  summed(w, r, round);
}

// One whose blocks do all of that each for itself.
static void shot5_round(World &w, unsigned r, unsigned round)
{
  struct shot5 p = {};
  opening(w, r, p);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.post_wait[i] = own(w, &Rank::read_by, r, peer_of(r, i));
  }
  add_up_by_blocks(w, r, round, "shot5", p);
}

// The same around copies of all ranks' terms, one after another.
static void gather_round(World &w, unsigned r, unsigned round)
{
  struct gather p = {};
  opening(w, r, p);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.post_wait[i] = own(w, &Rank::read_by, r, peer_of(r, i));
  }
  for (; p.n < ranks; p.n++) {
    p.terms[p.n] = (const char *)at(w.of[p.n].term, p.n % 2);
  }
  p.dst = (char *)at(w.of[r].all, r % 2);
  p.bytes = all_elements * size_of(type_of(round));
  launch(w, r, "gather", p, blocks);
  host(w, r, [&w, r, round] {
    for (unsigned i = 0; i < ranks * all_elements; i++) {
      if (get(type_of(round), at(w.of[r].all, r % 2), i) !=
          wanted(type_of(round), i / all_elements, round, i % all_elements)) {
        return wrong(w, r, round, "what was gathered is wrong");
      }
    }
  });
}

// One whose blocks leave the closing wait to those of copies: of what the peers have added up.
static void shot3_round(World &w, unsigned r, unsigned round)
{
  struct shot3 p = {};
  opening(w, r, p);
  add_up_by_blocks(w, r, round, "shot3", p);
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned from = peer_of(r, i);
    struct get2 q = {};
    by_blocks(w, r, q);
    q.pre_wait = own(w, &Rank::read_by, r, from);
    q.src = (const char *)at(w.of[from].sum, from % 2);
    q.dst = (char *)at(w.of[r].gathered[from], r % 2);
    q.bytes = all_elements * size_of(type_of(round));
    launch(w, r, "get2", q, blocks);
    host(w, r, [&w, r, from, round] {
      for (size_t j = 0; j < all_elements; j++) {
        const unsigned type = type_of(round);
        if (get(type, at(w.of[r].gathered[from], r % 2), j) != get(type, at(w.of[r].sum, r % 2), j)) {
          return wrong(w, r, round, "another rank's sum is not what was copied");
        }
      }
    });
  }
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

// Tiles of the shards of all ranks, which travel in two pieces; rounds of fp32 take bf16.
enum { tile_rows = 2, tile_depth = 776, tile_columns = 8 };

static unsigned tile_type(unsigned round) { return type_of(round) == 3 ? 1 : type_of(round); }

// Integers, so that every sum is exact.
static double tile_number(unsigned seed, unsigned i) { return (int)((seed * 31 + i * 2654435761u) >> 28) % 3; }

// What is made of each index below n, the same for one key: every order asks for it again. Each thread has its own, so
// that no rank waits for another's.
template <typename T, typename Make>
static const std::vector<T> &once(std::array<unsigned, 5> key, unsigned n, Make make)
{
  static thread_local std::map<std::array<unsigned, 5>, std::vector<T>> all;
  std::vector<T> &made = all[key];
  for (unsigned i = (unsigned)made.size(); i < n; i++) {
    made.push_back(make(i));
  }
  return made;
}

static const std::vector<unsigned short> &numbers_of(unsigned type, unsigned seed, unsigned count, unsigned times = 1)
{
  return once<unsigned short>({type, seed, count, times}, count, [type, seed, times](unsigned i) {
    return (unsigned short)bits_of(type, times * tile_number(seed, i));
  });
}

static const char *const bare_tiles[] = {"tiles5", "tiles6", "tiles7", "tiles8"};

template <typename Params>
static void tiles_round(World &w, unsigned r, unsigned round, const char *kernel)
{
  const unsigned type = tile_type(round);
  Rank &own_rank = w.of[r];
  host(w, r, [&own_rank, r, round, type] {
    own_rank.shard = numbers_of(type, 7 * round + r, tile_rows * tile_depth);
    own_rank.weights = numbers_of(type, 100 + r, tile_columns * tile_depth);
    own_rank.bias = numbers_of(type, 200 + r, tile_columns);
    std::fill(own_rank.product.begin(), own_rank.product.end(), 0x7fff);
    std::fill(own_rank.shards.begin(), own_rank.shards.end(), 0x7fff);
  });
  Params p = {};
  pre_wait(w, r, p);
  pre_post(w, r, p);
  post_post(w, r, p);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.post_wait[i] = own(w, &Rank::read, r, peer_of(r, i));
    p.shards[i] = (const char *)w.of[peer_of(r, i)].shard.data();
  }
  p.apart = sizeof(Word) / sizeof(unsigned);
  p.dst = (char *)own_rank.shards.data();
  p.ranks = ranks;
  p.rank = r;
  p.rows = tile_rows;
  p.depth = tile_depth;
  p.columns = tile_columns;
  p.own.bits[0] = (u64)own_rank.shard.data();
  p.a.bits[0] = (u64)own_rank.shards.data();
  p.b.bits[0] = (u64)own_rank.weights.data();
  p.c.bits[0] = (u64)own_rank.product.data();
  p.bias = (const char *)own_rank.bias.data();
  const bool biased = std::is_same<Params, struct tiles>::value;
  launch(w, r, of(kernel, type), p, 2);
  counted(w, r, round);
  host(w, r, [&w, &own_rank, r, round, type, biased] {
    for (const Word &word : own_rank.counts) {
      if (word.value != 0) {
        wrong(w, r, round, "a count of shards is not 0");
      }
    }
    const unsigned n = ranks * tile_rows * tile_columns;
    const auto &want = once<double>({type, round, r, biased}, n, [r, round, type, biased](unsigned i) {
      const unsigned row = i / tile_columns, column = i % tile_columns, from = row / tile_rows;
      double sum = biased ? tile_number(200 + r, column) : 0;
      for (unsigned k = 0; k < tile_depth; k++) {
        sum += tile_number(7 * round + from, row % tile_rows * tile_depth + k) *
               tile_number(100 + r, column * tile_depth + k);
      }
      return rounded(type, sum);
    });
    for (unsigned i = 0; i < n; i++) {
      if (value(type, own_rank.product[i]) != want[i]) {
        return wrong(w, r, round, "the product is wrong");
      }
    }
  });
}

enum { scatter_depth = 72, scatter_columns = 264, broad = 96 };  // of three tiles of 128 and of three groups

enum { scatter_times = 5 };  // the numbers of tiles, so that sums have more digits than an element

// The element that rank `by` makes of row i of rank `of`.
static float scattered(unsigned type, unsigned round, unsigned by, unsigned of, unsigned i, unsigned column)
{
  double sum = 0;
  for (unsigned k = 0; k < scatter_depth; k++) {
    sum += scatter_times * tile_number(7 * round + by, (of * tile_rows + i) * scatter_depth + k) *
           tile_number(100 + by, column * scatter_depth + k);
  }
  return (float)rounded(type, sum);
}

// adds has a kernel that adds a tensor add a rank's.
template <typename Params>
static auto adds(Params &p, const Rank &rank, int) -> decltype(p.added, true)
{
  p.added.bits[0] = (u64)rank.added.data();
  return true;
}

template <typename Params>
static bool adds(Params &, const Rank &, long) { return false; }

// biases has a kernel that adds a row add a rank's.
template <typename Params>
static auto biases(Params &p, const Rank &rank, int) -> decltype((void)p.finish)
{
  p.finish.a = (const char *)rank.bias.data();
  p.finish.columns = scatter_columns;
}

template <typename Params>
static void biases(Params &, const Rank &, long) {}

template <typename Params>
static void scatter_round(World &w, unsigned r, unsigned round, const char *kernel, bool biased)
{
  const unsigned type = tile_type(round);
  Rank &own_rank = w.of[r];
  host(w, r, [&own_rank, r, round, type] {
    const auto &rows = numbers_of(type, 7 * round + r, ranks * tile_rows * scatter_depth, scatter_times);
    std::copy(rows.begin(), rows.end(), own_rank.shards.begin());
    own_rank.weights = numbers_of(type, 100 + r, scatter_columns * scatter_depth);
    own_rank.bias = numbers_of(type, 200 + r, scatter_columns);
    own_rank.added = numbers_of(type, 300 + round, tile_rows * scatter_columns);
    std::fill(own_rank.product.begin(), own_rank.product.end(), 0x7fff);
    std::fill(own_rank.slots.begin(), own_rank.slots.end(), 0x7fff);
  });
  Params p = {};
  signals(w, r, p);
  for (; p.peers < ranks - 1; p.peers++) {
    const unsigned peer = peer_of(r, p.peers);
    p.pre_post[p.peers] = theirs(w, &Rank::ready_by, r, peer);
    p.pre_wait[p.peers] = own(w, &Rank::ready_by, r, peer);
    p.post_post[p.peers] = theirs(w, &Rank::read_by, r, peer);
    p.post_wait[p.peers] = own(w, &Rank::read_by, r, peer);
    p.to[p.peers].bits[0] = (u64)&w.of[peer].slots[r * tile_rows * scatter_columns];
  }
  p.stride = ranks * sizeof(Word) / sizeof(unsigned);
  p.apart = sizeof(Word) / sizeof(unsigned);
  p.groups = 3;
  p.high = 128;
  p.broad = broad;
  p.ranks = ranks;
  p.rank = r;
  p.rows = tile_rows;
  p.depth = scatter_depth;
  p.columns = scatter_columns;
  p.slots.bits[0] = (u64)own_rank.slots.data();
  p.a.bits[0] = (u64)own_rank.shards.data();
  p.b.bits[0] = (u64)own_rank.weights.data();
  p.c.bits[0] = (u64)own_rank.product.data();
  biases(p, own_rank, 0);
  const bool added = adds(p, own_rank, 0);
  launch(w, r, of(kernel, type), p, 3);
  counted(w, r, round);
  host(w, r, [&w, &own_rank, r, round, type, biased, added] {
    for (const Word &word : own_rank.counts) {
      if (word.value != 0) {
        wrong(w, r, round, "a count of tiles is not 0");
      }
    }
    const unsigned n = tile_rows * scatter_columns;
    const auto &want = once<double>({type, round, r, biased, added}, n, [r, round, type, biased, added](unsigned i) {
      const unsigned row = i / scatter_columns, column = i % scatter_columns;
      float sum = 0;
      for (unsigned by = 0; by < ranks; by++) {
        sum += scattered(type, round, by, r, row, column);
      }
      if (added) {
        sum += (float)tile_number(300 + round, i);
      }
      if (biased) {
        sum += (float)tile_number(200 + r, column);
      }
      return rounded(type, sum);
    });
    for (unsigned i = 0; i < n; i++) {
      if (value(type, own_rank.product[i]) != want[i]) {
        return wrong(w, r, round, "the sum is wrong");
      }
    }
  });
}

// What is sent: also words that no packet is for, of which all bits are 1, or all but the lowest, and one whose packet
// is -0 as a float, of which all bits are 1 but the highest.
static unsigned moved(unsigned type, unsigned rank, unsigned round, size_t i)
{
  const unsigned word = (unsigned)(i * size_of(type) / 4 % 11), ones = size_of(type) == 4 ? ~0u : 0xffffu;
  const bool low = i * size_of(type) % 4 == 0, high = (i + 1) * size_of(type) % 4 == 0;
  switch (word) {
  case 0: return ones;
  case 1: return low ? ones - 1 : ones;
  case 2: return high ? ones >> 1 : ones;
  }
  return wanted(type, rank, round, i);
}

// Each rank gets a part of every rank's term, which begins eight elements behind the part of the rank before it.
template <typename Params>
static void land(World &w, unsigned r, unsigned round, Params &p)
{
  host(w, r, [&w, r, round] {
    for (size_t i = 0; i < all_elements; i++) {
      put_bits(type_of(round), at(w.of[r].term, r % 2), i, moved(type_of(round), r, round, i));
    }
  });
  p.step = &w.of[r].step.value;
  p.value = ++w.of[r].numbered;
  p.blocks = blocks;
  p.n = ranks;
  for (unsigned q = 0; q < ranks; q++) {
    p.terms[q] = term(w, r) + 8 * q * size_of(type_of(round));
    p.to[q] = q == r ? nullptr : (char *)w.of[q].lands[0].landed[0][r];
  }
  p.from = (char *)w.of[r].lands[0].landed;
  p.part = sizeof w.of[r].lands[0].landed[0][0];
  p.half = sizeof w.of[r].lands[0].landed[0];
  p.turn = w.of[r].lands[0].turns;
  p.rank = r;
}

static bool is_nan(unsigned type, unsigned bits)
{
  return type == 3 ? (bits & 0x7fffffff) > 0x7f800000 : (bits & 0x7fff) > (type == 1 ? 0x7f80u : 0x7c00u);
}

// What is added to it, if anything: another part of the rank's own term.
static unsigned added_to(unsigned r) { return 8 * ((r + 1) % ranks); }

// What a sum takes beside the parts of ranks: nothing, a tensor, or behind that a number of each row, a tensor again,
// and a row.
enum Beside { alone, and_tensor, and_more };
enum { numbers_at = 14 };  // the first element of those of rows, and of the row, in the rank's own term

// Whether an element of the sum for a rank is right.
static bool is_sum(unsigned r, unsigned round, size_t i, Beside beside, unsigned got)
{
  const unsigned type = type_of(round);
  float x = -0.0f;
  bool number = true;
  const auto next = [&](unsigned bits) {
    number = number && !is_nan(type, bits);
    return (float)value(type, bits);
  };
  for (unsigned t = 0; t < ranks; t++) {
    x += next(moved(type, t, round, i + 8 * r));
  }
  if (beside != alone) {
    x += next(moved(type, r, round, i + added_to(r)));
  }
  if (beside == and_more) {
    x *= next(moved(type, r, round, numbers_at + i / columns));
    x += next(moved(type, r, round, i + added_to(r)));
    x += next(moved(type, r, round, numbers_at + i % columns));
  }
  // Conversions of 16 bits by numbers.h know no NaN.
  return number ? value(type, got) == rounded(type, x) : type != 3 || is_nan(type, got);
}

// The sum of what landed and, where added, of that, and nothing behind it.
static void landed_sum(World &w, unsigned r, unsigned round, char *dst, Beside beside,
                       const std::function<void()> &launches)
{
  unsigned char *const behind = (unsigned char *)dst + sent * size_of(type_of(round));
  host(w, r, [behind] { *behind = 0xee; });
  launches();
  host(w, r, [&w, r, round, behind, beside] {
    const unsigned type = type_of(round);
    if (*behind != 0xee) {
      return wrong(w, r, round, "a byte behind the sum is written");
    }
    for (size_t i = 0; i < sent; i++) {
      if (!is_sum(r, round, i, beside, get(type, at(w.of[r].sum, r % 2), i))) {
        return wrong(w, r, round, "the sum of packets is wrong");
      }
    }
  });
}

template <typename Params>
static void packets_round(World &w, unsigned r, unsigned round, const char *kernel, Params p, Beside beside)
{
  land(w, r, round, p);
  p.beside = units * 16;
  p.dst = (char *)at(w.of[r].sum, r % 2);
  p.count = sent;
  landed_sum(w, r, round, p.dst, beside, [&] { launch(w, r, of(kernel, type_of(round)), p, blocks); });
}

template <typename Params>
static void push_round(World &w, unsigned r, unsigned round, const char *kernel, Params p, Beside beside)
{
  land(w, r, round, p);
  for (unsigned q = 0; q < ranks; q++) {
    p.to[q] = q == r ? nullptr : (char *)&w.of[q].pushed[0][r];
  }
  p.from = (char *)w.of[r].pushed;
  p.part = sizeof w.of[r].pushed[0][0];
  p.half = sizeof w.of[r].pushed[0];
  p.word = offsetof(Rank::Part, words);
  p.next = sizeof(Word);
  p.dst = (char *)at(w.of[r].sum, r % 2);
  p.count = sent;
  landed_sum(w, r, round, p.dst, beside, [&] { launch(w, r, of(kernel, type_of(round)), p, blocks); });
}

// Parameters with what is added.
template <typename Params>
static Params adding(World &w, unsigned r, unsigned round)
{
  Params p = {};
  p.added = term(w, r) + added_to(r) * size_of(type_of(round));
  return p;
}

// Parameters with that and more.
template <typename Params>
static Params finishing(World &w, unsigned r, unsigned round)
{
  Params p = adding<Params>(w, r, round);
  p.finish.a = p.finish.c = term(w, r) + numbers_at * size_of(type_of(round));
  p.finish.b = p.added;
  p.finish.columns = columns;
  return p;
}

// What goes on from a norm: nothing, its norm, or eight bits of it.
enum Goes { nowhere, to_norm, to_codes };

// goes_on has a kernel add a tensor to the norm and make the norm of that at a place; or add it to the sum, and make
// codes of the norm, and behind them scales, or nothing.
template <typename Params>
static auto goes_on(Params &p, const char *added, char *to, int) -> decltype(p.dst2, Goes())
{
  p.b = added;
  p.c = p.a;
  p.dst2 = to;
  return to_norm;
}

static const size_t behind_codes = (sent + 3) / 4 * 4;

static Goes goes_on(struct packets5 &p, const char *added, char *to, int)
{
  p.added = added;
  p.dst2 = to;
  p.scales = to + behind_codes;
  return to_codes;
}

template <typename Params>
static Goes goes_on(Params &p, const char *added, char *, long)
{
  p.added = added;
  return nowhere;
}

// quantised is whether a code is a number over a scale, rounded to three digits behind the first.
static bool quantised(unsigned code, double x, double scale)
{
  const int exponent = code >> 3 & 15, low = code & 7;
  const double size = exponent == 0 ? std::ldexp(low, -9) : std::ldexp(low + 8, exponent - 10);
  const double of = std::fabs(x / scale);
  const int unit = std::max(of == 0 ? -6 : std::ilogb(of), -6) - 3;
  return size == std::ldexp(std::nearbyint(std::ldexp(of, -unit)), unit) && (code >> 7 != 0) == std::signbit(x);
}

// Rows of joined elements, of which kernels of packets make norms.
enum { joined = 17 };
static_assert(sent % joined == 0, "whole rows");

// norm_right checks what a rank has of the sum for an owner, if it has that; of the norm of its rows, and of what goes
// on from that.
static void norm_right(World &w, unsigned r, unsigned owner, unsigned round, Goes goes, double epsilon,
                       const unsigned char *sum, const unsigned char *norm, const unsigned char *behind)
{
  const unsigned type = type_of(round);
  double sums[sent];
  for (size_t i = 0; i < sent; i++) {
    float x = -0.0f;
    for (unsigned t = 0; t < ranks; t++) {
      x += (float)number_of(t, round, i + 8 * owner);
    }
    if (goes != to_norm) {
      x += (float)number_of(owner, round, i + added_to(owner));
    }
    sums[i] = rounded(type, x);
    if (sum != nullptr && value(type, get(type, sum, i)) != sums[i]) {
      return wrong(w, r, round, "the sum of packets behind which a norm stands is wrong");
    }
  }
  for (size_t i = 0; i < sent; i++) {
    double squares = 0;
    for (size_t k = i - i % joined; k < i - i % joined + joined; k++) {
      squares += sums[k] * sums[k] / joined;
    }
    const double want = sums[i] / std::sqrt(squares + epsilon) * number_of(owner, round, i % joined) +
                        (goes == to_norm ? number_of(owner, round, i + added_to(owner)) : 0);
    const double got = value(type, get(type, norm, i));
    if (!near(type, got, want) && std::fabs(got - want) > std::fabs(want) * 0x1p-8) {
      return wrong(w, r, round, "the norm of the sum of packets is wrong");
    }
  }
  const auto made = [&](size_t i) { return value(type, get(type, norm, i)); };
  for (size_t i = 0; goes == to_codes && i < sent; i++) {
    float most = 0, scale;
    for (size_t k = i - i % joined; k < i - i % joined + joined; k++) {
      most = std::fmax(most, (float)std::fabs(made(k)));
    }
    memcpy(&scale, behind + behind_codes + i / joined * 4, 4);
    if (scale != std::exp2(std::ceil(std::log2(most / 448))) || !quantised(behind[i], made(i), scale)) {
      return wrong(w, r, round, "eight bits of the norm are wrong");
    }
  }
  for (size_t i = 0; goes == to_norm && i < sent; i++) {
    double squares = 0;
    for (size_t k = i - i % joined; k < i - i % joined + joined; k++) {
      squares += made(k) * made(k) / joined;
    }
    const double want = made(i) / std::sqrt(squares + epsilon) * number_of(owner, round, i % joined);
    const double got = value(type, get(type, behind, i));
    if (!near(type, got, want) && std::fabs(got - want) > std::fabs(want) * 0x1p-8) {
      return wrong(w, r, round, "what is made of the norm is wrong");
    }
  }
}

// norming has the parameters of a kernel that makes a norm of rows of what lands.
template <typename Params>
static Params norming(World &w, unsigned r, unsigned round)
{
  Params p = {};
  land(w, r, round, p);
  host(w, r, [&w, r, round] {
    for (size_t i = 0; i < all_elements; i++) {
      put_bits(type_of(round), at(w.of[r].term, r % 2), i, wanted(type_of(round), r, round, i));
    }
  });
  p.beside = units * 16;
  p.count = sent;
  p.rows = 8;  // of whole 16 bytes: the second block has fewer
  p.columns = joined;
  p.epsilon = 1e-6;
  p.a = term(w, r);
  return p;
}

// The sum of packets, and its norm by rows of joined elements; or the norm of that and a tensor, too, or its codes.
template <typename Params>
static void normed_round(World &w, unsigned r, unsigned round, const char *kernel)
{
  const unsigned type = type_of(round);
  Params p = norming<Params>(w, r, round);
  p.x = (char *)at(w.of[r].sum, r % 2);
  p.dst = (char *)at(w.of[r].all, r % 2);
  const Goes goes = goes_on(p, term(w, r) + added_to(r) * size_of(type), p.dst + sent * size_of(type), 0);
  launch(w, r, of(kernel, type), p, blocks);
  host(w, r, [&w, r, round, p, goes, type] {
    const unsigned char *const norm = (unsigned char *)p.dst;
    norm_right(w, r, r, round, goes, p.epsilon, (unsigned char *)p.x, norm, norm + sent * size_of(type));
  });
}

// lands_at says where results land behind the parts, and counts them.
static unsigned lands_at(u64 (&spread)[2], u64 apart)
{
  spread[0] = apart, spread[1] = 2 * apart;
  return 2;
}

static unsigned lands_at(u64 &spread, u64 apart)
{
  spread = apart;
  return 1;
}

// Owners of rows make norms of them, and all ranks get the norms and what goes on from them, and with_sums the sums.
template <typename Params>
static void owned_round(World &w, unsigned r, unsigned round, const char *kernel, bool with_sums)
{
  const unsigned type = type_of(round), part = sent * size_of(type);
  Params p = norming<Params>(w, r, round);
  const unsigned results = lands_at(p.spread, sizeof w.of[r].lands[0]);
  unsigned char *const sums = at(w.of[r].sums, r % 2), *const norms = at(w.of[r].all, r % 2);
  unsigned char *const rest = at(w.of[r].behind, r % 2);
  p.x = (char *)sums + r * part;
  p.dst = (char *)norms + r * part;
  const Goes goes = goes_on(p, term(w, r) + added_to(r) * size_of(type), (char *)rest + r * part, 0);
  host(w, r, [=] {
    for (unsigned char *e : {sums, norms, rest}) {
      e[ranks * part] = 0xee;
    }
  });
  launch(w, r, of(kernel, type), p, blocks);
  host(w, r, [=, &w] {
    for (unsigned char *e : {sums, norms, rest}) {
      if (e[ranks * part] != 0xee) {
        return wrong(w, r, round, "a byte behind a result that was spread is written");
      }
    }
    for (unsigned i = 0; i <= results; i++) {
      if (memcmp(w.of[r].lands[i].turns, w.of[r].lands[0].turns, sizeof w.of[r].lands[0].turns) != 0) {
        return wrong(w, r, round, "parts and results use different halves next");
      }
    }
    for (unsigned q = 0; q < ranks; q++) {
      const unsigned char *const sum = with_sums || q == r ? sums + q * part : nullptr;
      norm_right(w, r, q, round, goes, p.epsilon, sum, norms + q * part, rest + q * part);
    }
  });
}

static void packetgather_round(World &w, unsigned r, unsigned round)
{
  struct packetgather p = {};
  land(w, r, round, p);
  p.beside = units * 16;
  p.dst = (char *)at(w.of[r].all, r % 2);
  p.count = sent * size_of(type_of(round));
  unsigned char *const behind = (unsigned char *)p.dst + ranks * p.count;
  host(w, r, [behind] { *behind = 0xee; });
  launch(w, r, "packetgather", p, blocks);
  host(w, r, [&w, r, round, behind] {
    for (size_t i = 0; i < ranks * sent; i++) {
      if (get(type_of(round), at(w.of[r].all, r % 2), i) !=
          moved(type_of(round), (unsigned)(i / sent), round, i % sent + 8 * r)) {
        return wrong(w, r, round, "a part that landed is wrong");
      }
    }
    if (*behind != 0xee) {
      wrong(w, r, round, "a byte behind what landed is written");
    }
  });
}

// Rows of a rank that go to all: where its own are and those of all ranks, and the bytes of a row. No byte behind them
// is written.
struct Gone { unsigned char *made, *all; unsigned row; };

template <typename Params, size_t n>
static void send_all(World &w, unsigned r, unsigned round, const char *kernel, Params p, unsigned rows,
                     const Gone (&results)[n])
{
  const Rank::Landing &l = w.of[r].lands[0];
  p.step = &w.of[r].step.value;
  p.value = ++w.of[r].numbered;
  p.blocks = blocks;
  p.x = term(w, r);
  p.count = rows * p.columns;
  p.n = ranks;
  p.rank = r;
  for (unsigned q = 0; q < ranks; q++) {
    p.landing[q] = (char *)w.of[q].lands[0].landed;
  }
  for (size_t i = 0; i < n; i++) {
    const Gone &g = results[i];
    p.going[i] = {i * sizeof l, sizeof l.landed[0][0], sizeof l.landed[0], units * 16, g.row, rows * g.row,
                  (char *)g.all};
    host(w, r, [g, rows] { g.made[rows * g.row] = g.all[ranks * rows * g.row] = 0xee; });
  }
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  for (const Gone &g : results) {
    host(w, r, [=, &w] {
      if (g.made[rows * g.row] != 0xee || g.all[ranks * rows * g.row] != 0xee) {
        return wrong(w, r, round, "a byte behind rows that were sent is written");
      }
      if (memcmp(g.made, g.all + r * rows * g.row, rows * g.row) != 0) {
        return wrong(w, r, round, "own rows are not among those of all");
      }
    });
  }
  host(w, r, [&w, r, round] {
    for (size_t i = 1; i < n; i++) {
      if (memcmp(w.of[r].lands[i].turns, w.of[r].lands[0].turns, sizeof w.of[r].lands[0].turns) != 0) {
        return wrong(w, r, round, "results use different halves next");
      }
    }
  });
}

// numbers_of has a rank's term be numbers.
static void numbers_of(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    for (size_t i = 0; i < all_elements; i++) {
      put_bits(type_of(round), at(w.of[r].term, r % 2), i, wanted(type_of(round), r, round, i));
    }
  });
}

// widens has a kernel widen the rows of all ranks, of which a rank has so many, by their scales.
template <typename Params>
static unsigned char *widens(World &w, unsigned r, unsigned round, Params &p, unsigned rows, unsigned char *all,
                             unsigned char *scales)
{
  unsigned char *const wide = at(w.of[r].behind, r % 2);
  const size_t end = ranks * rows * p.columns * size_of(type_of(round));
  p.finish.dst = (char *)wide;
  p.finish.count = rows * p.columns;
  p.finish.x = (const char *)all;
  p.finish.a = (const char *)scales;
  p.finish.columns = p.columns;
  host(w, r, [=] { wide[end] = 0xee; });
  return wide;
}

static void only_widened(World &w, unsigned r, unsigned round, unsigned char *wide, size_t elements)
{
  host(w, r, [=, &w] {
    if (wide[elements * size_of(type_of(round))] != 0xee) {
      wrong(w, r, round, "a byte behind widened rows is written");
    }
  });
}

// Codes of rows of a rank's numbers, with fp32 scales, and what those of all ranks are. Blocks share 16 bytes of
// scales.
static void packetrows_round(World &w, unsigned r, unsigned round)
{
  enum { wide = 16, rows = 9 };
  numbers_of(w, r, round);
  struct packetrows p = {};
  p.rows = 3;
  p.columns = wide;
  unsigned char *const made = at(w.of[r].sum, r % 2), *const all = at(w.of[r].all, r % 2);
  unsigned char *const scales = at(w.of[r].gathered[0], r % 2), *const of_all = at(w.of[r].sums, r % 2);
  p.dst = (char *)made, p.scales = (char *)scales;
  unsigned char *const widened = widens(w, r, round, p, rows, all, of_all);
  send_all(w, r, round, "packetrows", p, rows, {{made, all, wide}, {scales, of_all, 4}});
  only_widened(w, r, round, widened, ranks * rows * wide);
  host(w, r, [=, &w] {
    for (unsigned i = 0; i < ranks * rows; i++) {
      const auto x = [&](unsigned k) { return number_of(i / rows, round, i % rows * wide + k); };
      float most = 0, scale;
      for (unsigned k = 0; k < wide; k++) {
        most = std::fmax(most, (float)std::fabs(x(k)));
      }
      memcpy(&scale, of_all + 4 * i, 4);
      bool right = scale == std::exp2(std::ceil(std::log2(most / 448)));
      for (unsigned k = 0; k < wide; k++) {
        const double got = value(type_of(round), get(type_of(round), widened, i * wide + k));
        right = right && quantised(all[i * wide + k], x(k), scale) && quantised(all[i * wide + k], got, scale) &&
                std::fabs(got - x(k)) <= std::fmax(std::fabs(x(k)) * 0x1p-4, scale * 0x1p-10);
      }
      if (!right) {
        return wrong(w, r, round, "codes of rows that were sent, or what they are, are wrong");
      }
    }
  });
}

// A norm of rows, and codes of it, both of which go to all.
static void packetrows2_round(World &w, unsigned r, unsigned round)
{
  enum { wide = 10, rows = 17 };
  const unsigned type = type_of(round), size = size_of(type);
  numbers_of(w, r, round);
  struct packetrows2 p = {};
  p.rows = 8;  // of whole 16 bytes
  p.columns = wide;
  p.epsilon = 1e-6;
  p.a = term(w, r);
  unsigned char *const norm = at(w.of[r].sum, r % 2), *const norms = at(w.of[r].all, r % 2);
  unsigned char *const made = at(w.of[r].gathered[0], r % 2), *const all = at(w.of[r].sums, r % 2);
  unsigned char *const scales = at(w.of[r].gathered[1], r % 2), *const of_all = at(w.of[r].behind, r % 2);
  p.dst = (char *)norm, p.dst2 = (char *)made, p.scales = (char *)scales;
  send_all(w, r, round, "packetrows2", p, rows, {{norm, norms, wide * size}, {made, all, wide}, {scales, of_all, 4}});
  host(w, r, [=, &w] {
    for (unsigned i = 0; i < ranks * rows; i++) {
      const auto x = [&](unsigned k) { return number_of(i / rows, round, i % rows * wide + k); };
      const auto y = [&](unsigned k) { return value(type, get(type, norms, i * wide + k)); };
      double squares = 0;
      float most = 0, scale;
      for (unsigned k = 0; k < wide; k++) {
        squares += x(k) * x(k) / wide;
        most = std::fmax(most, (float)std::fabs(y(k)));
      }
      memcpy(&scale, of_all + 4 * i, 4);
      bool right = scale == std::exp2(std::ceil(std::log2(most / 448)));
      for (unsigned k = 0; k < wide; k++) {
        const double want = x(k) / std::sqrt(squares + 1e-6) * number_of(i / rows, round, k);
        right = right && (near(type, y(k), want) || std::fabs(y(k) - want) <= std::fabs(want) * 0x1p-8) &&
                quantised(all[i * wide + k], y(k), scale);
      }
      if (!right) {
        return wrong(w, r, round, "a norm that was sent, or its codes, are wrong");
      }
    }
  });
}

// Codes of four bits of rows, some of which have a NaN, with scales of a byte: four in a packet, which may be no
// packet, or as a float -0. They lie apart from whole words. A row of the least codes is no packets either.
static void packetrows3_round(World &w, unsigned r, unsigned round)
{
  enum { wide = 32, rows = 6, last = 3 };  // of the first packet
  const bool known = type_of(round) != 2;  // numbers.h knows no NaN of fp16
  const auto least = [=](unsigned rank, unsigned row) { return row == 5 || (row == last && (rank + round) % 4 == 0); };
  const auto loud = [=](unsigned rank, unsigned row) {
    return known && row <= last && (rank + round) % 2 == 0 && !least(rank, row);
  };
  numbers_of(w, r, round);
  host(w, r, [=, &w] {
    for (unsigned row = 0; row < rows; row++) {
      if (loud(r, row)) {
        put_bits(type_of(round), (unsigned char *)term(w, r), row * wide + row, ~0u);
      }
    }
    for (unsigned i = 0; i < rows * wide; i++) {
      if (least(r, i / wide)) {
        put_bits(type_of(round), (unsigned char *)term(w, r), i, bits_of(type_of(round), -6));
      }
    }
  });
  struct packetrows3 p = {};
  p.rows = 4;
  p.columns = wide;
  unsigned char *const made = at(w.of[r].sum, r % 2), *const all = at(w.of[r].all, r % 2);
  unsigned char *const scales = at(w.of[r].gathered[0], r % 2) + 2, *const of_all = at(w.of[r].sums, r % 2) + 2;
  p.dst = (char *)made, p.scales = (char *)scales;
  unsigned char *const widened = widens(w, r, round, p, rows, all, of_all);
  send_all(w, r, round, "packetrows3", p, rows, {{made, all, wide / 2}, {scales, of_all, 1}});
  only_widened(w, r, round, widened, ranks * rows * wide);
  host(w, r, [=, &w] {
    for (unsigned i = 0; i < ranks * rows; i++) {
      const auto got = [&](unsigned k) { return get(type_of(round), widened, i * wide + k); };
      if (loud(i / rows, i % rows)) {
        // Conversions of 16 bits by numbers.h know no NaN.
        if (of_all[i] != 0xff || (type_of(round) == 3 && !is_nan(3, got(i % wide)))) {
          return wrong(w, r, round, "the scale of a row with a NaN is none, or the row is not all NaN");
        }
        continue;
      }
      const auto x = [&](unsigned k) {
        return least(i / rows, i % rows) ? -6 : number_of(i / rows, round, i % rows * wide + k);
      };
      double most = 0;
      for (unsigned k = 0; k < wide; k++) {
        most = std::fmax(most, std::fabs(x(k)));
      }
      bool right = of_all[i] == 127 + (int)std::ceil(std::log2(most / 6));
      for (unsigned k = 0; k < wide; k++) {
        const unsigned code = all[(i * wide + k) / 2] >> 4 * (k % 2) & 15;
        const double sizes[] = {0, .5, 1, 1.5, 2, 3, 4, 6}, size = sizes[code & 7];
        const double apart = std::fabs(std::fabs(std::ldexp(x(k), 127 - of_all[i])) - size);
        right = right && apart <= (size < 2 ? .25 : size < 4 ? .5 : 1) &&
                (size == 0 || code >> 3 == std::signbit(x(k))) &&
                std::fabs(value(type_of(round), got(k))) == std::ldexp(size, of_all[i] - 127);
      }
      if (!right) {
        return wrong(w, r, round, "codes of four bits that were sent, or what they are, are wrong");
      }
    }
  });
}

// A call that adds up over its block again and again, in an order that follows from the number of its threads.
static void total_round(World &w, unsigned r, unsigned round)
{
  const unsigned type = type_of(round), times = all_elements / threads;
  const struct call_Total p = {{(char *)at(w.of[r].sum, r % 2), times * size_of(type)},
                               {{(char *)at(w.of[r].term, r % 2), all_elements * size_of(type)}}};
  launch(w, r, of("call_Total", type), p, 1);
  host(w, r, [&w, r, round, type] {
    for (unsigned i = 0; i < times; i++) {
      const auto x = [&](unsigned k) { return (float)value(type, wanted(type, r, round, i * threads + k)); };
      static_assert(threads == 4, "halves are added, then their halves");
      if (value(type, get(type, at(w.of[r].sum, r % 2), i)) != rounded(type, (x(0) + x(2)) + (x(1) + x(3)))) {
        return wrong(w, r, round, "a sum of a block is wrong");
      }
    }
  });
}

// Sums that each rank makes a part of, and sends to all.
template <typename Params>
static void packetspread_round(World &w, unsigned r, unsigned round, const char *kernel, Params p, Beside beside)
{
  land(w, r, round, p);
  p.beside = units * 16;
  p.spread = sizeof w.of[r].lands[0];
  unsigned char *const all = at(w.of[r].all, r % 2), *const behind = all + ranks * sent * size_of(type_of(round));
  p.dst = (char *)all + r * sent * size_of(type_of(round));
  p.count = sent;
  host(w, r, [behind] { *behind = 0xee; });
  launch(w, r, of(kernel, type_of(round)), p, blocks);
  host(w, r, [&w, r, round, behind, beside] {
    if (*behind != 0xee) {
      return wrong(w, r, round, "a byte behind the sums is written");
    }
    if (memcmp(w.of[r].lands[0].turns, w.of[r].lands[1].turns, sizeof w.of[r].lands[0].turns) != 0) {
      return wrong(w, r, round, "parts and sums use different halves next");
    }
    for (size_t i = 0; i < ranks * sent; i++) {
      if (!is_sum((unsigned)(i / sent), round, i % sent, beside, get(type_of(round), at(w.of[r].all, r % 2), i))) {
        return wrong(w, r, round, "a sum that was spread is wrong");
      }
    }
  });
}

// A product of few rows and a bias on the first rank, of numbers of which every sum is exact, by a weight of their type
// or of codes with one scale, or one for each square. Blocks have 256 threads, which are all made anew for each rank
// that has such blocks.
enum { few_across = 64, few_most = 64 };
#ifdef ON_THREADS  // one step: in each, what stands in for tensor cores has many barriers
enum { few_deep = 256 };
#else
enum { few_deep = 512 };
#endif

// code_of is the code of a small integer in e4m3.
static unsigned char code_of(double x)
{
  const int exponent = x == 0 ? -7 : std::ilogb(x);
  const unsigned digits = x == 0 ? 0 : (unsigned)(std::ldexp(std::fabs(x), 3 - exponent)) - 8;
  return (unsigned char)((x < 0 ? 0x80 : 0) | (unsigned)(exponent + 7) << 3 | digits);
}

enum Weight { of_rows_type, of_codes, of_squares };

static void few_round(World &w, unsigned r, unsigned round, const char *kernel, unsigned rows, Weight weight)
{
  static const float scales[few_deep / 128] = {2, .5f};  // of squares, or the first of all
  const bool narrow = weight != of_rows_type;
  const unsigned type = tile_type(round);
  Rank &own_rank = w.of[r];
  if (r != 0) {
    return;
  }
  host(w, r, [&own_rank, round, type, narrow] {
    own_rank.shard = numbers_of(type, 7 * round, few_most * few_deep);
    own_rank.weights = numbers_of(type, 100 + round, few_across * few_deep);
    unsigned char *const codes = (unsigned char *)own_rank.weights.data();
    for (unsigned i = 0; narrow && i < few_across * few_deep; i++) {
      codes[i] = code_of(tile_number(100 + round, i));
    }
    own_rank.bias = numbers_of(type, 200 + round, few_across);
    std::fill(own_rank.product.begin(), own_rank.product.end(), 0x7fff);
  });
  struct fewrows p = {};
  p.dst = (char *)own_rank.product.data();
  p.rows = rows;
  p.depth = few_deep;
  p.columns = few_across;
  p.a = (const char *)own_rank.shard.data();
  p.b = (const char *)own_rank.weights.data();
  p.bias = (const char *)own_rank.bias.data();
  p.scale = scales;
  p.scales = weight == of_squares ? few_deep / 128 : 1;
  launch(w, r, of(kernel, type), p, blocks, 256);
  host(w, r, [&w, &own_rank, r, round, type, rows, weight] {
    const auto &want = once<double>({type, round, weight}, rows * few_across, [round, type, weight](unsigned i) {
      const unsigned row = i / few_across, column = i % few_across;
      double sum = 0;
      for (unsigned k = 0; k < few_deep; k++) {
        const double scale = weight == of_rows_type ? 1 : scales[weight == of_squares ? k / 128 : 0];
        sum += tile_number(7 * round, row * few_deep + k) * tile_number(100 + round, column * few_deep + k) * scale;
      }
      return rounded(type, sum + tile_number(200 + round, column));
    });
    for (unsigned i = 0; i < rows * few_across; i++) {
      if (value(type, own_rank.product[i]) != want[i]) {
        return wrong(w, r, round, "the product of few rows is wrong");
      }
    }
    if (own_rank.product[rows * few_across] != 0x7fff) {
      wrong(w, r, round, "an element behind the product of few rows is written");
    }
  });
}

struct Kind {
  const char *name;
  void (*round)(World &w, unsigned r, unsigned round);
  unsigned orders = 100;  // of its ranks and threads; fewer where no rank waits for another
};

#define COPY(name) {#name, [](World &w, unsigned r, unsigned round) { copy_round<struct name>(w, r, round, #name); }},
static const Kind kinds[] = {
    COPIES(COPY)
    {"post, wait, reduce", reduce_round}, {"reduce of two", reduce2_round},
    {"reduce with a row", reduce3_round}, {"reduce with a tensor", reduce4_round}, {"reduce of hosts", reduce5_round},
    {"reduce, scale and add", reduce6_round},
    {"elements", elements_round}, {"elements of columns", elements2_round},
    {"elements of fp32", elements3_round}, {"groups", groups_round},
    {"heads", groups2_round},
    {"widen", widen_round},
    {"call", total_round}, {"get", get_round}, {"put", put_round},
    {"shot that waits", shot4_round}, {"shot that posts and waits", shot2_round},
    {"shot that posts and waits twice", shot_round}, {"shot and a tensor", shot6_round},
    {"shot by blocks, and get", shot3_round},
    {"shot by blocks that posts and waits twice", shot5_round}, {"gather by blocks", gather_round},
    {"packets", [](World &w, unsigned r, unsigned i) { packets_round(w, r, i, "packets", packets{}, alone); }},
    {"packets and a tensor", [](World &w, unsigned r, unsigned i) {
       packets_round(w, r, i, "packets2", adding<struct packets2>(w, r, i), and_tensor);
     }},
    {"packets and more", [](World &w, unsigned r, unsigned i) {
       packets_round(w, r, i, "packets6", finishing<struct packets6>(w, r, i), and_more);
     }},
    {"packets and a norm", [](World &w, unsigned r, unsigned i) {
       normed_round<struct packets3>(w, r, i, "packets3");
     }},
    {"packets and what goes on from a norm", [](World &w, unsigned r, unsigned i) {
       normed_round<struct packets4>(w, r, i, "packets4");
     }},
    {"packets and eight bits of a norm", [](World &w, unsigned r, unsigned i) {
       normed_round<struct packets5>(w, r, i, "packets5");
     }},
    {"packetgather", packetgather_round},
    {"packetspread", [](World &w, unsigned r, unsigned i) {
       packetspread_round(w, r, i, "packetspread", packetspread{}, alone);
     }},
    {"packetspread and a tensor", [](World &w, unsigned r, unsigned i) {
       packetspread_round(w, r, i, "packetspread2", adding<struct packetspread2>(w, r, i), and_tensor);
     }},
    {"packetspread and more", [](World &w, unsigned r, unsigned i) {
       packetspread_round(w, r, i, "packetspread3", finishing<struct packetspread3>(w, r, i), and_more);
     }},
    {"packetspread and a norm", [](World &w, unsigned r, unsigned i) {
       owned_round<struct packetspread4>(w, r, i, "packetspread4", true);
     }},
    {"packetspread and what goes on from a norm", [](World &w, unsigned r, unsigned i) {
       owned_round<struct packetspread5>(w, r, i, "packetspread5", false);
     }},
    {"packetspread and a norm alone", [](World &w, unsigned r, unsigned i) {
       owned_round<struct packetspread6>(w, r, i, "packetspread6", false);
     }},
    {"packetrows", packetrows_round},
    {"packetrows behind a norm", packetrows2_round},
    {"packetrows of four bits", packetrows3_round},
    {"push", [](World &w, unsigned r, unsigned i) { push_round(w, r, i, "push", push{}, alone); }},
    {"push and a tensor", [](World &w, unsigned r, unsigned i) {
       push_round(w, r, i, "push2", adding<struct push2>(w, r, i), and_tensor);
     }},
    {"push and more", [](World &w, unsigned r, unsigned i) {
       push_round(w, r, i, "push3", finishing<struct push3>(w, r, i), and_more);
     }},
    {"few rows", [](World &w, unsigned r, unsigned i) {
       few_round(w, r, i, "fewrows8", 7, of_rows_type);
       few_round(w, r, i, "fewrows16", 16, of_rows_type);
       few_round(w, r, i, "narrow8", 7, of_codes);
       few_round(w, r, i, "squares8", 7, of_squares);
#ifndef ON_THREADS  // a thread for each of a kernel's threads takes long, and the kernels are one text
       few_round(w, r, i, "fewrows32", 17, of_rows_type);
       few_round(w, r, i, "fewrows64", few_most, of_rows_type);
       few_round(w, r, i, "narrow16", 16, of_codes);
       few_round(w, r, i, "narrow32", 17, of_codes);
       few_round(w, r, i, "narrow64", few_most, of_codes);
       few_round(w, r, i, "squares16", 16, of_squares);
       few_round(w, r, i, "squares32", 17, of_squares);
       few_round(w, r, i, "squares64", few_most, of_squares);
#endif
     }, 5},
    {"tiles", [](World &w, unsigned r, unsigned i) { tiles_round<struct tiles>(w, r, i, "tiles"); }},
    {"tiles alone", [](World &w, unsigned r, unsigned i) { tiles_round<struct tiles>(w, r, i, "tiles2"); }},
    {"wide tiles", [](World &w, unsigned r, unsigned i) { tiles_round<struct tiles>(w, r, i, "tiles3"); }},
    {"tiles together", [](World &w, unsigned r, unsigned i) { tiles_round<struct tiles>(w, r, i, "tiles4"); }},
    {"scatter", [](World &w, unsigned r, unsigned i) { scatter_round<struct scatter>(w, r, i, "scatter", false); }},
    {"scatter of other tiles on each rank", [](World &w, unsigned r, unsigned i) {
       scatter_round<struct scatter>(w, r, i, r == 0 ? "scatter" : r == 1 ? "scatter2" : "scatter3", false);
     }},
    {"scatter with a bias", [](World &w, unsigned r, unsigned i) {
       scatter_round<struct scatter4>(w, r, i, "scatter4", true);
     }},
    {"tiles without a bias, others on each rank", [](World &w, unsigned r, unsigned i) {
       tiles_round<struct tiles5>(w, r, i, bare_tiles[(r + i) % 4]);
     }},
    {"tiles without a bias, the other way round", [](World &w, unsigned r, unsigned i) {
       tiles_round<struct tiles5>(w, r, i, bare_tiles[(r + i + 2) % 4]);
     }},
    {"scatter and a tensor", [](World &w, unsigned r, unsigned i) {
       scatter_round<struct scatter5>(w, r, i, r == 0 ? "scatter5" : r == 1 ? "scatter6" : "scatter7", false);
     }},
};

static std::unique_ptr<World> world(const Kind &k)
{
  auto w = std::unique_ptr<World>(new World());
  w->name = k.name;
  for (Rank &r : w->of) {
    r.term.resize(all_elements * 4 + 16);
    r.sum.resize(all_elements * 4 + 16);
    r.all.resize(ranks * all_elements * 4 + 16);
    r.sums = r.behind = r.all;
    r.shard.resize(std::max<size_t>(tile_rows * tile_depth, few_most * few_deep));
    r.shards.resize(ranks * tile_rows * tile_depth);
    r.weights.resize(std::max<size_t>(scatter_columns * scatter_depth, few_across * few_deep));
    r.bias.resize(scatter_columns);
    r.added.resize(tile_rows * scatter_columns);
    r.slots.resize(ranks * tile_rows * scatter_columns);
    r.product.resize(std::max<size_t>(ranks * tile_rows * scatter_columns, few_most * few_across + 1));
    for (auto &g : r.gathered) {
      g.resize(all_elements * 4 + 16);
    }
  }
  for (unsigned r = 0; r < ranks; r++) {
    for (unsigned round = 0; round < rounds; round++) {
      fill(*w, r, round);
      k.round(*w, r, round);
    }
  }
  return w;
}

// The kernels that the steps of a kind launch.
static std::set<std::string> launched(const Kind &k)
{
  std::set<std::string> names;
  const auto w = world(k);
  for (const Rank &r : w->of) {
    for (const Step &s : r.steps) {
      names.insert(s.kernel);
    }
  }
  return names;
}

// Whether a kind launches a kernel of a list, which ends with null; an empty list is of all kernels.
static bool named(const Kind &k, char **list)
{
  if (*list == nullptr) {
    return true;
  }
  const auto names = launched(k);
  for (; *list != nullptr; list++) {
    if (names.count(*list) > 0) {
      return true;
    }
  }
  return false;
}

// Once all ranks are through, every word is 0 and the step words say how far they came.
static void ended(World &w)
{
  for (unsigned r = 0; r < ranks; r++) {
    for (unsigned peer = 0; peer < ranks; peer++) {
      if (w.of[r].ready[peer].value != 0 || w.of[r].read[peer].value != 0) {
        wrong(w, r, rounds, "a word is not 0");
      }
      for (unsigned b = 0; b < blocks; b++) {
        if (w.of[r].ready_by[b][peer].value != 0 || w.of[r].read_by[b][peer].value != 0) {
          wrong(w, r, rounds, "a word of a block is not 0");
        }
      }
    }
    for (const auto &half : w.of[r].pushed) {
      for (const auto &of : half) {
        for (const Word &word : of.words) {
          if (word.value != 0) {
            return wrong(w, r, rounds, "a word of what was pushed is not 0");
          }
        }
      }
    }
    for (const auto &land : w.of[r].lands) {
      for (const auto &half : land.landed) {
        for (const auto &of : half) {
          for (u64 packet : of) {
            if (packet != 0) {
              return wrong(w, r, rounds, "a packet is not 0");
            }
          }
        }
      }
    }
    if (w.of[r].step.value != w.of[r].numbered) {
      wrong(w, r, rounds, "the step word does not name the last wait");
    }
  }
}
