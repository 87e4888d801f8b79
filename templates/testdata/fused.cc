// A test of sums and of the kernels that wait, work and post.
#include "drive.h"
#include "numbers.h"

#include <string>

// The kernels of an element type.
static std::string of(const char *kernel, unsigned type)
{
  return std::string(kernel) + (type == 1 ? "_bf16" : type == 2 ? "_fp16" : "_fp32");
}

static void number_of_terms(struct reduce &p, unsigned n) { p.n = n; }
static void number_of_terms(struct reduce2 &, unsigned) {}
static void number_of_terms(struct reduce3 &p, unsigned n) { p.n = n; }
static void number_of_terms(struct reduce4 &p, unsigned n) { p.n = n; }
static void number_of_terms(struct reduce5 &p, unsigned n) { p.n = n; }
static void number_of_terms(struct reduce6 &p, unsigned n) { p.n = n; }
static void number_of_terms(struct widen &p, unsigned n) { p.n = n; }

// What a kernel makes of the sum: nothing else, or the sum with a row of five elements and with its first term, which
// both have whatever alignment.
enum { columns = 5 };
template <typename Params>
static void give(Params &, unsigned char *)
{
}
static void give(struct reduce3 &p, unsigned char *row)
{
  p.finish.a = (const char *)row;
  p.finish.b = p.terms[0];
  p.finish.columns = columns;
}
static void give(struct reduce6 &p, unsigned char *) { p.finish.a = p.terms[0]; }
static void give(struct widen &p, unsigned char *row)
{
  p.finish.a = (const char *)row;
  p.finish.columns = columns;
}
static float element_of(const char *of, unsigned type, size_t i)
{
  return (float)value(type, get(type, (unsigned char *)of, i));
}
template <typename Params>
static float finished(const Params &, float x, unsigned, size_t)
{
  return x;
}
static float finished(const struct reduce3 &p, float x, unsigned type, size_t i)
{
  return x + element_of(p.finish.a, type, i % columns) + element_of(p.finish.b, type, i);
}
static float finished(const struct reduce6 &p, float x, unsigned type, size_t i)
{
  return x * 0.25f + element_of(p.finish.a, type, i);
}
static float finished(const struct widen &p, float x, unsigned type, size_t i)
{
  return x + element_of(p.finish.a, type, i % columns);
}

// Terms at every alignment, counts around a unit and a round of all threads, dst apart
// from the terms or one of them; what is made has a type of its own.
template <typename Params>
static void sums(const char *kernel, unsigned type, unsigned terms, size_t shift, size_t count, int in_place,
                 unsigned to)
{
  const size_t size = size_of(type), room = (count + 64) * size_of(to);
  std::vector<std::vector<unsigned char>> memory(terms + 1, std::vector<unsigned char>(room, 0xee));
  std::vector<double> want(count);
  Params p = {};
  for (unsigned t = 0; t < terms; t++) {
    const size_t at = (t % 2 == 0 ? shift : in_place == 2 ? shift + 1 : shift) % 8 * size;
    for (size_t i = 0; i < count; i++) {
      const unsigned bits = number(type, t * 7919 + i);
      memcpy(&memory[t][at + i * size], &bits, size);
      want[i] = t == 0 ? value(type, bits) : (float)((float)want[i] + (float)value(type, bits));
    }
    p.terms[t] = (const char *)&memory[t][at];
  }
  std::vector<unsigned char> row(columns * size);
  for (size_t i = 0; i < columns; i++) {
    const unsigned bits = number(type, 104729 + i);
    memcpy(&row[i * size], &bits, size);
  }
  give(p, row.data());
  for (size_t i = 0; i < count; i++) {
    want[i] = finished(p, (float)want[i], type, i);
  }
  const size_t there = to == type ? shift % 8 : shift % 8 + count % 2;  // aligned with the terms, or not
  unsigned char *dst = in_place == 1 ? (unsigned char *)p.terms[terms / 2] : &memory[terms][there * size_of(to)];
  p.dst = (char *)dst;
  p.count = count;
  number_of_terms(p, terms);
  EXPECT(run(of(kernel, type).c_str(), &p, 2, 4) == 0);
  for (size_t i = 0; i < count; i++) {
    const double got = value(to, get(to, dst, i)), expected = rounded(to, want[i]);
    if (got != expected) {
      printf("%s: type %u, %u terms, shift %zu, count %zu, in place %d: element %zu is %.9g, want %.9g\n", kernel, type,
             terms, shift, count, in_place, i, got, expected);
      failures++;
      return;
    }
  }
  EXPECT(get(to, dst, count) == (to == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// Sums that the type can't hold, NaN, and a zero that keeps its sign.
static void limits()
{
  alignas(16) unsigned short a[8] = {0x7bff, 0x7e00, 0x0001, 0xfbff, 0x8000, 0x8000};
  alignas(16) unsigned short b[8] = {0x5000, 0x3c00, 0x0001, 0xd000, 0x8000}, out[8];
  struct reduce p = {};
  p.terms[0] = (const char *)a;
  p.terms[1] = (const char *)b;
  p.dst = (char *)out;
  p.n = 2;
  for (p.count = 6; p.count <= 8; p.count += 2) {  // one by one, and as a unit
    EXPECT(run("reduce_fp16", &p, 1, 1) == 0);
    EXPECT(out[0] == 0x7c00 && out[1] == 0x7fff && out[2] == 2 && out[3] == 0xfc00 && out[4] == 0x8000 && out[5] == 0);
    std::fill(out, out + 8, 0xeeee);
  }
}

// The words of one rank with two peers, or with the one that a copy is about.
struct Words {
  unsigned pre_post[2], pre_wait[2], post_post[2], post_wait[2], step, blocks;
};

// The signals of a kernel: whether at each place, and how many words.
struct Signals {
  unsigned words;
  bool pre_post, post_post, post_wait;
};

// A kernel of several blocks that signals around its work: it posts once before it, and nothing
// moves before every word is 1; then the work is done, words are back at 0, the step is noted and
// the peers have it. Words that are awaited after it are reset as well, and the count is back at
// 0.
template <typename Params, typename Place, typename Before, typename After>
static void fused(const std::string &name, const Signals &s, Params p, Place place, Before before, After after)
{
  Words w = {};
  unsigned value = 0;
  place(p, w);
  p.step = &w.step;
  p.blocks = &w.blocks;
  p.value = 77;
  const ovgen_kernel *k = find(name.c_str());
  const unsigned last = s.words - 1;
  for (unsigned round = 0; round < 64; round++) {
    void *l = begin(k, &p, 16, 64);
    u64 addr = 0;
    EXPECT(advance(l, &addr, &value) == 1 && addr == (u64)&w.pre_wait[0] && value == 1);
    EXPECT(w.pre_post[0] == s.pre_post && w.pre_post[last] == s.pre_post);
    w.pre_post[0] = w.pre_post[1] = 0;  // who posts again is caught
    if (s.words == 2) {
      w.pre_wait[0] = 1;
      EXPECT(advance(l, &addr, &value) == 1 && addr == (u64)&w.pre_wait[1]);
    }
    EXPECT(w.pre_wait[0] == (s.words == 2) && w.step == 0 && w.post_post[0] == 0);
    EXPECT(before());
    w.pre_wait[last] = 1;
    const int waiting = advance(l, &addr, &value);
    EXPECT(w.pre_wait[0] == 0 && w.pre_wait[1] == 0 && w.step == 77 && w.blocks == 0);
    EXPECT(w.post_post[0] == s.post_post && w.post_post[last] == s.post_post);
    EXPECT(after());
    EXPECT(w.pre_post[0] == 0 && w.pre_post[1] == 0);
    if (s.post_wait) {
      EXPECT(waiting == 1 && addr == (u64)&w.post_wait[0] && value == 1);
      w.step = 0;
      w.post_wait[0] = w.post_wait[1] = 1;
      EXPECT(advance(l, &addr, &value) == 0);
      EXPECT(w.post_wait[0] == 0 && w.post_wait[1] == 0 && w.step == 77 && w.blocks == 0);
    } else {
      EXPECT(waiting == 0);
    }
    engine_destroy(l);
    w.step = w.post_post[0] = w.post_post[1] = 0;
  }
  p.blocks = 0;  // without a count word it does nothing
  EXPECT(run(name.c_str(), &p, 3, 32) == 0 && before() && w.step == 0);
}

static void both(unsigned *(&field)[7], unsigned (&words)[2])
{
  field[0] = &words[0];
  field[1] = &words[1];
}

static float a[1000], b[1000], added[1000];

// A sum of two tensors, whatever it signals.
template <typename Params, typename Place>
static void two(const char *kernel, const Signals &s, Place place)
{
  const auto all = [](float x) {
    const bool is = std::count(added, added + 1000, x) == 1000;
    std::fill(added, added + 1000, 0.0f);
    return is;
  };
  Params p = {};
  p.terms[0] = (const char *)a;
  p.terms[1] = (const char *)b;
  p.dst = (char *)added;
  p.count = 1000;
  p.n = 2;
  p.peers = 2;
  fused(of(kernel, 3), s, p, place, [&] { return all(0.0f); }, [&] { return all(3.0f); });
  p.peers = 0;  // a rank alone
  Words w = {};
  p.blocks = &w.blocks;
  EXPECT(run(of(kernel, 3).c_str(), &p, 3, 32) == 0 && all(3.0f) && w.blocks == 0);
}

// A kernel of three blocks of which each signals for itself, by words as far apart as the stride
// says: none does anything before its own words are 1, and then its part is done, its words are
// back at 0, and its peers have it, whatever the others wait for.
template <typename Params, typename Place>
static void apart(const char *kernel, const Signals &s, Params p, Place place, size_t bytes)
{
  Words w[3] = {};
  unsigned step = 0, value;
  place(p, w[0]);
  p.step = &step;
  p.value = 77;
  p.stride = sizeof(Words) / sizeof(unsigned);
  p.blocks = 3;
  char *const dst = p.dst;
  const size_t each = ((bytes + 2) / 3 + 127) / 128 * 128;
  const auto done = [&](size_t from, size_t to) {
    return std::all_of(dst + std::min(from, bytes), dst + std::min(to, bytes), [](char c) { return c != 0; });
  };
  for (unsigned round = 0; round < 64; round++) {
    std::fill(dst, dst + bytes, 0);
    void *l = begin(find(kernel), &p, 3, 64);
    u64 addr = 0;
    for (unsigned b = 0; b < 3; b++) {
      EXPECT(advance(l, &addr, &value) == 1);
      EXPECT(std::all_of(dst + std::min(b * each, bytes), dst + bytes, [](char c) { return c == 0; }));
      EXPECT(w[b].post_post[0] == 0 && step == (b > 0 ? 77 : 0));
      EXPECT(w[b].pre_post[0] == s.pre_post && w[b].pre_post[s.words - 1] == s.pre_post);
      w[b].pre_wait[0] = 1;
      if (s.words == 2) {
        EXPECT(advance(l, &addr, &value) == 1 && !done(b * each, b * each + 1) && w[b].post_post[0] == 0);
        w[b].pre_wait[1] = 1;
      }
      const int left = advance(l, &addr, &value);
      EXPECT(done(b * each, (b + 1) * each) && w[b].pre_wait[0] == 0 && w[b].pre_wait[1] == 0 && step == 77);
      EXPECT(w[b].post_post[0] == s.post_post && w[b].post_post[s.words - 1] == s.post_post);
      if (s.post_wait) {
        EXPECT(left == 1);
        w[b].post_wait[0] = w[b].post_wait[1] = 1;
      } else {
        EXPECT(left == (b < 2));
      }
    }
    EXPECT(advance(l, &addr, &value) == 0);
    engine_destroy(l);
    for (Words &x : w) {
      EXPECT(x.pre_wait[0] == 0 && x.pre_wait[1] == 0 && x.post_wait[0] == 0 && x.post_wait[1] == 0);
      x = {};
    }
    step = 0;
  }
  std::fill(dst, dst + bytes, 0);
}

int main()
{
  for (unsigned type = 1; type <= 3; type++) {
    for (size_t count : {0, 1, 7, 8, 9, 40, 131}) {
      for (size_t shift : {0, 1, 5}) {
        for (int in_place = 0; in_place < 3; in_place++) {
          for (unsigned terms : {1u, 2u, 4u, 5u, 7u, 8u}) {
            sums<struct reduce>("reduce", type, terms, shift, count, in_place, type);
          }
          sums<struct reduce2>("reduce2", type, 2, shift, count, in_place, type);
          for (unsigned terms : {1u, 2u, 9u}) {
            sums<struct reduce3>("reduce3", type, std::min(terms, 8u), shift, count, in_place, type);
            sums<struct reduce4>("reduce4", type, terms, shift, count, in_place, type);
          }
          sums<struct reduce5>("reduce5", type, 64, shift, count, in_place, type);
          sums<struct reduce6>("reduce6", type, 3, shift, count, in_place, type);
          if (in_place != 1 || type == 3) {
            sums<struct widen>("widen", type, 3, shift, count, in_place, 3);
          }
        }
      }
    }
  }
  limits();

  std::vector<unsigned char> from(5001, 7), to(5001);
  // Each look leaves the destination empty for the next.
  const auto empty = [&] {
    const bool is = std::count(to.begin(), to.end(), 0) == (long)to.size();
    std::fill(to.begin(), to.end(), 0);
    return is;
  };
  const auto full = [&] {
    const bool is = to == from;
    std::fill(to.begin(), to.end(), 0);
    return is;
  };
  const auto turn = [](auto &p, Words &w) {
    p.pre_wait = &w.pre_wait[0];
    p.post_post = &w.post_post[0];
  };
  const auto copied = [&](auto p) {
    p.dst = (char *)to.data();
    p.src = (const char *)from.data();
    p.bytes = from.size();
    return p;
  };
  fused("get", {1, false, true, false}, copied((struct get){}), turn, empty, full);
  fused("put", {1, false, true, false}, copied((struct put){}), turn, empty, full);

  std::fill(a, a + 1000, 0.1f);  // of which no byte is 0
  const auto sum_of_two = [](auto p) {
    p.terms[0] = (const char *)a;
    p.terms[1] = (const char *)b;
    p.dst = (char *)added;
    p.count = 1000;
    p.n = p.peers = 2;
    return p;
  };
  apart("shot3_fp32", {2, true, true, false}, sum_of_two((struct shot3){}), [](auto &p, Words &w) {
    both(p.pre_post, w.pre_post);
    both(p.pre_wait, w.pre_wait);
    both(p.post_post, w.post_post);
  }, sizeof added);
  apart("shot5_fp32", {2, true, true, true}, sum_of_two((struct shot5){}), [](auto &p, Words &w) {
    both(p.pre_post, w.pre_post);
    both(p.pre_wait, w.pre_wait);
    both(p.post_post, w.post_post);
    both(p.post_wait, w.post_wait);
  }, sizeof added);
  struct gather all = {};
  all.terms[0] = (const char *)from.data();
  all.dst = (char *)to.data();
  all.bytes = from.size();
  all.peers = 2;
  all.n = 1;
  apart("gather", {2, true, true, true}, all, [](auto &p, Words &w) {
    both(p.pre_post, w.pre_post);
    both(p.pre_wait, w.pre_wait);
    both(p.post_post, w.post_post);
    both(p.post_wait, w.post_wait);
  }, from.size());
  apart("get2", {1, false, false, false}, copied((struct get2){}),
        [](auto &p, Words &w) { p.pre_wait = &w.pre_wait[0]; }, from.size());

  std::fill(a, a + 1000, 1.0f);
  std::fill(b, b + 1000, 2.0f);
  two<struct shot4>("shot4", {2, false, false, false}, [](auto &p, Words &w) { both(p.pre_wait, w.pre_wait); });
  two<struct shot2>("shot2", {2, true, false, false}, [](auto &p, Words &w) {
    both(p.pre_post, w.pre_post);
    both(p.pre_wait, w.pre_wait);
  });
  two<struct shot>("shot", {2, true, true, true}, [](auto &p, Words &w) {
    both(p.pre_post, w.pre_post);
    both(p.pre_wait, w.pre_wait);
    both(p.post_post, w.post_post);
    both(p.post_wait, w.post_wait);
  });
  return failures != 0;
}
