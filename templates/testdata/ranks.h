// Ranks that use the kernels as programs do, round after round, each in its own order: a
// list of steps a rank, for whoever has a way of running kernels.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "expect.h"
#include "numbers.h"
#include "word.h"

enum { ranks = 3, rounds = 4, elements = 203, blocks = 3, threads = 4 };

// A step is a launch of a kernel or, without one, what the rank's host does.
struct Step {
  const char *kernel;
  std::vector<u64> params;  // aligned for any struct of parameters
  unsigned blocks;
  std::function<void()> host;
};

// What one rank has in memory.
struct Rank {
  Word ready[ranks], read[ranks];  // one a peer
  Word step, count;
  std::vector<unsigned char> term, sum, gathered[ranks];
  std::vector<Step> steps;
  unsigned numbered;  // waits
};

struct World {
  const char *name;
  Rank of[ranks];
};

static u64 address(const void *p) { return (u64)p; }

// Buffers start somewhere within 16 bytes, alike or not.
static unsigned char *at(std::vector<unsigned char> &v, unsigned shift) { return v.data() + shift * 4; }

static unsigned wanted(unsigned type, unsigned rank, unsigned round, size_t i)
{
  return number(type, rank * 7919 + round * 104729 + (unsigned)i);
}

// Every round has its element type.
static unsigned type_of(unsigned round) { return round % 3 + 1; }

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

static void host(World &w, unsigned r, std::function<void()> f) { w.of[r].steps.push_back({nullptr, {}, 0, f}); }

template <typename Params>
static void launch(World &w, unsigned r, const char *kernel, const Params &p, unsigned grid)
{
  Step s = {kernel, std::vector<u64>((sizeof p + 7) / 8), grid, nullptr};
  memcpy(s.params.data(), &p, sizeof p);
  w.of[r].steps.push_back(s);
}

static void fill(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    for (size_t i = 0; i < elements; i++) {
      put_bits(type_of(round), at(w.of[r].term, r % 2), i, wanted(type_of(round), r, round, i));
    }
  });
}

// The words of a rank's peers that are its own, or its own that are its peers'.
typedef Word (Rank::*Set)[ranks];

static u64 theirs(World &w, Set set, unsigned r, unsigned peer) { return address(&(w.of[peer].*set)[r].value); }
static u64 own(World &w, Set set, unsigned r, unsigned peer) { return address(&(w.of[r].*set)[peer].value); }

static unsigned peer_of(unsigned r, unsigned i) { return (r + 1 + i) % ranks; }

static void post(World &w, unsigned r, Set set)
{
  struct check_post p = {};
  for (p.count = 0; p.count < ranks - 1; p.count++) {
    p.words[p.count] = theirs(w, set, r, peer_of(r, p.count));
  }
  launch(w, r, "check_post", p, 1);
}

static void wait(World &w, unsigned r, Set set)
{
  struct check_wait p = {};
  for (p.count = 0; p.count < ranks - 1; p.count++) {
    p.words[p.count] = own(w, set, r, peer_of(r, p.count));
  }
  p.step = address(&w.of[r].step.value);
  p.value = ++w.of[r].numbered;
  launch(w, r, "check_wait", p, 1);
}

static struct check_signals signals(World &w, unsigned r)
{
  struct check_signals s = {};
  s.step = address(&w.of[r].step.value);
  s.count = address(&w.of[r].count.value);
  s.value = ++w.of[r].numbered;
  return s;
}

// Behind a kernel that counts its blocks: the count is back at 0.
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
  p.src = address(at(w.of[from].term, from % 2));
  p.dst = address(at(w.of[to].gathered[from], to % 2));
  p.bytes = elements * size_of(type_of(round));
}

static void gathered(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    for (unsigned i = 0; i < ranks - 1; i++) {
      const unsigned from = peer_of(r, i);
      for (size_t j = 0; j < elements; j++) {
        if (get(type_of(round), at(w.of[r].gathered[from], r % 2), j) != wanted(type_of(round), from, round, j)) {
          return wrong(w, r, round, "what was copied is wrong");
        }
      }
    }
  });
}

static struct check_sum terms(World &w, unsigned r, unsigned round)
{
  struct check_sum s = {};
  for (s.terms_count = 0; s.terms_count < ranks; s.terms_count++) {
    s.terms[s.terms_count] = address(at(w.of[s.terms_count].term, s.terms_count % 2));
  }
  s.dst = address(at(w.of[r].sum, r % 2));
  s.count = elements;
  s.element = type_of(round);
  return s;
}

static void summed(World &w, unsigned r, unsigned round)
{
  host(w, r, [&w, r, round] {
    const unsigned type = type_of(round);
    for (size_t i = 0; i < elements; i++) {
      float x = (float)value(type, wanted(type, 0, round, i));
      for (unsigned t = 1; t < ranks; t++) {
        x += (float)value(type, wanted(type, t, round, i));
      }
      if (value(type, get(type, at(w.of[r].sum, r % 2), i)) != rounded(type, x)) {
        return wrong(w, r, round, "the sum is wrong");
      }
    }
  });
}

// ----------------------------------------------------------------------------
// What a rank does in one round, for each kind of kernel

static void copy_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  for (unsigned i = 0; i < ranks - 1; i++) {
    struct check_copy p = {};
    copied(w, p, peer_of(r, i), r, round);
    launch(w, r, "check_copy", p, blocks);
  }
  gathered(w, r, round);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

static void reduce_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  wait(w, r, &Rank::ready);
  struct check_reduce p = {};
  p.sum = terms(w, r, round);
  launch(w, r, "check_reduce", p, blocks);
  summed(w, r, round);
  post(w, r, &Rank::read);
  wait(w, r, &Rank::read);
}

static void get_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned from = peer_of(r, i);
    struct check_get p = {};
    p.signals = signals(w, r);
    p.signals.waits[p.signals.waiting++] = own(w, &Rank::ready, r, from);
    p.signals.posts[p.signals.posting++] = theirs(w, &Rank::read, r, from);
    copied(w, p, from, r, round);
    launch(w, r, "check_get", p, blocks);
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
    struct check_put p = {};
    p.signals = signals(w, r);
    p.signals.waits[p.signals.waiting++] = own(w, &Rank::ready, r, to);
    p.signals.posts[p.signals.posting++] = theirs(w, &Rank::read, r, to);
    copied(w, p, r, to, round);
    launch(w, r, "check_put", p, blocks);
    counted(w, r, round);
  }
  wait(w, r, &Rank::read);
  gathered(w, r, round);
}

// A shot that waits ahead of its work and posts behind it, between a post and a wait.
static void shot_round(World &w, unsigned r, unsigned round)
{
  post(w, r, &Rank::ready);
  struct check_shot p = {};
  p.signals = signals(w, r);
  for (unsigned i = 0; i < ranks - 1; i++) {
    p.signals.waits[p.signals.waiting++] = own(w, &Rank::ready, r, peer_of(r, i));
    p.signals.posts[p.signals.posting++] = theirs(w, &Rank::read, r, peer_of(r, i));
  }
  p.sum = terms(w, r, round);
  launch(w, r, "check_shot", p, blocks);
  counted(w, r, round);
  summed(w, r, round);
  wait(w, r, &Rank::read);
}

// A shot that does all of its signalling itself.
static void whole_shot_round(World &w, unsigned r, unsigned round)
{
  struct check_shot p = {};
  p.signals = signals(w, r);
  for (unsigned i = 0; i < ranks - 1; i++) {
    const unsigned peer = peer_of(r, i);
    p.signals.opens[p.signals.opening++] = theirs(w, &Rank::ready, r, peer);
    p.signals.waits[p.signals.waiting++] = own(w, &Rank::ready, r, peer);
    p.signals.posts[p.signals.posting++] = theirs(w, &Rank::read, r, peer);
    p.signals.closes[p.signals.closing++] = own(w, &Rank::read, r, peer);
  }
  p.sum = terms(w, r, round);
  launch(w, r, "check_shot", p, blocks);
  counted(w, r, round);
  summed(w, r, round);
}

struct Kind {
  const char *name;
  void (*round)(World &w, unsigned r, unsigned round);
};

static const Kind kinds[] = {
    {"post, wait, copy", copy_round}, {"post, wait, reduce", reduce_round}, {"get", get_round},
    {"put", put_round},               {"shot", shot_round},                 {"shot that opens and closes", whole_shot_round},
};

static std::unique_ptr<World> world(const Kind &k)
{
  auto w = std::unique_ptr<World>(new World());
  w->name = k.name;
  for (Rank &r : w->of) {
    r.term.resize(elements * 4 + 16);
    r.sum.resize(elements * 4 + 16);
    for (auto &g : r.gathered) {
      g.resize(elements * 4 + 16);
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

// Once all ranks are through, every word is 0 and the step words say how far they came.
static void ended(World &w)
{
  for (unsigned r = 0; r < ranks; r++) {
    for (unsigned peer = 0; peer < ranks; peer++) {
      if (w.of[r].ready[peer].value != 0 || w.of[r].read[peer].value != 0) {
        wrong(w, r, rounds, "a word is not 0");
      }
    }
    if (w.of[r].step.value != w.of[r].numbered) {
      wrong(w, r, rounds, "the step word does not name the last wait");
    }
  }
}
