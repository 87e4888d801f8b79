// A test of sums and of the kernels that wait, work and post.
#include "engine.h"

#include "check_host.cc"

#include "drive.h"
#include "numbers.h"

// Terms at every alignment, counts around a unit and a round of all threads, dst apart
// from the terms or one of them.
static void sums(unsigned type, unsigned terms, size_t shift, size_t count, int in_place)
{
  const size_t size = size_of(type), room = (count + 64) * size;
  std::vector<std::vector<unsigned char>> memory(terms + 1, std::vector<unsigned char>(room, 0xee));
  std::vector<double> want(count);
  struct check_reduce p = {};
  for (unsigned t = 0; t < terms; t++) {
    const size_t at = (t % 2 == 0 ? shift : in_place == 2 ? shift + 1 : shift) % 8 * size;
    for (size_t i = 0; i < count; i++) {
      const unsigned bits = number(type, t * 7919 + i);
      memcpy(&memory[t][at + i * size], &bits, size);
      want[i] = t == 0 ? value(type, bits) : (float)((float)want[i] + (float)value(type, bits));
    }
    p.sum.terms[t] = (u64)&memory[t][at];
  }
  unsigned char *dst = in_place == 1 ? (unsigned char *)p.sum.terms[terms / 2] : &memory[terms][shift % 8 * size];
  p.sum.dst = (u64)dst;
  p.sum.count = count;
  p.sum.terms_count = terms;
  p.sum.element = type;
  EXPECT(run("check_reduce", &p, 2, 4) == 0);
  for (size_t i = 0; i < count; i++) {
    const double got = value(type, get(type, dst, i)), expected = rounded(type, want[i]);
    if (got != expected) {
      printf("type %u, %u terms, shift %zu, count %zu, in place %d: element %zu is %.9g, want %.9g\n", type, terms, shift, count, in_place, i, got, expected);
      failures++;
      return;
    }
  }
  EXPECT(get(type, dst, count) == (type == 3 ? 0xeeeeeeeeu : 0xeeeeu));
}

// Sums that the type can't hold, NaN, and a zero that keeps its sign.
static void limits()
{
  alignas(16) unsigned short a[8] = {0x7bff, 0x7e00, 0x0001, 0xfbff, 0x8000, 0x8000}, b[8] = {0x5000, 0x3c00, 0x0001, 0xd000, 0x8000}, out[8];
  struct check_reduce p = {};
  p.sum.terms[0] = (u64)a;
  p.sum.terms[1] = (u64)b;
  p.sum.dst = (u64)out;
  p.sum.terms_count = 2;
  p.sum.element = 2;
  for (p.sum.count = 6; p.sum.count <= 8; p.sum.count += 2) {  // one by one, and as a unit
    EXPECT(run("check_reduce", &p, 1, 1) == 0);
    EXPECT(out[0] == 0x7c00 && out[1] == 0x7fff && out[2] == 2 && out[3] == 0xfc00 && out[4] == 0x8000 && out[5] == 0);
    std::fill(out, out + 8, 0xeeee);
  }
}

// A fused kernel of several blocks: it posts what opens once, and nothing moves before every
// word is 1; then the work is done, words are back at 0, the step is noted and the peers have
// it. What closes is awaited and reset as well, and the count is back at 0.
template <typename Params, typename Before, typename After>
static void fused(const char *name, Params p, Before before, After after)
{
  unsigned opens[2] = {0, 0}, waits[2] = {0, 0}, posts[2] = {0, 0}, closes[2] = {0, 0}, step = 0, count = 0, value = 0;
  for (int i = 0; i < 2; i++) {
    p.signals.opens[i] = (u64)&opens[i];
    p.signals.waits[i] = (u64)&waits[i];
    p.signals.posts[i] = (u64)&posts[i];
    p.signals.closes[i] = (u64)&closes[i];
  }
  p.signals.step = (u64)&step;
  p.signals.count = (u64)&count;
  p.signals.waiting = 2;
  p.signals.posting = 2;
  p.signals.value = 77;
  const ovgen_kernel *k = find(name);
  for (unsigned round = 0; round < 64; round++) {
    const bool around = round % 2 == 1;
    p.signals.opening = p.signals.closing = around ? 2 : 0;
    void *l = begin(k, &p, 16, 64);
    u64 addr = 0;
    EXPECT(advance(l, &addr, &value) == 1 && addr == (u64)&waits[0] && value == 1);
    EXPECT(opens[0] == around && opens[1] == around);
    opens[0] = opens[1] = 0;  // who posts again is caught
    waits[0] = 1;
    EXPECT(advance(l, &addr, &value) == 1 && addr == (u64)&waits[1]);
    EXPECT(waits[0] == 1 && step == 0 && posts[0] == 0);
    EXPECT(before());
    waits[1] = 1;
    const int waiting = advance(l, &addr, &value);
    EXPECT(waits[0] == 0 && waits[1] == 0 && step == 77 && count == 0 && posts[0] == 1 && posts[1] == 1);
    EXPECT(after());
    EXPECT(opens[0] == 0 && opens[1] == 0);
    if (around) {
      EXPECT(waiting == 1 && addr == (u64)&closes[0] && value == 1);
      step = 0;
      closes[0] = closes[1] = 1;
      EXPECT(advance(l, &addr, &value) == 0);
      EXPECT(closes[0] == 0 && closes[1] == 0 && step == 77 && count == 0);
    } else {
      EXPECT(waiting == 0);
    }
    engine_destroy(l);
    step = posts[0] = posts[1] = 0;
  }
  // Without words it only works; without a count word it does nothing.
  p.signals.opening = p.signals.waiting = p.signals.posting = p.signals.closing = 0;
  EXPECT(run(name, &p, 3, 32) == 0 && after() && posts[0] == 0 && step == 0 && count == 0);
  p.signals.count = 0;
  EXPECT(run(name, &p, 3, 32) == 0 && before() && step == 0);
}

int main()
{
  for (unsigned type = 1; type <= 3; type++) {
    for (unsigned terms : {1u, 2u, 4u, 5u, 8u, 9u, 64u}) {
      for (size_t count : {0, 1, 7, 8, 9, 40, 131}) {
        for (size_t shift : {0, 1, 5}) {
          for (int in_place = 0; in_place < 3; in_place++) {
            sums(type, terms, shift, count, in_place);
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
  struct check_get g = {};
  g.dst = (u64)to.data();
  g.src = (u64)from.data();
  g.bytes = from.size();
  fused("check_get", g, empty, full);
  struct check_put q = {};
  q.dst = g.dst;
  q.src = g.src;
  q.bytes = g.bytes;
  fused("check_put", q, empty, full);

  alignas(16) float a[1000], b[1000], sum[1000];
  std::fill(a, a + 1000, 1.0f);
  std::fill(b, b + 1000, 2.0f);
  std::fill(sum, sum + 1000, 0.0f);
  const auto all = [&](float x) {
    const bool is = std::count(sum, sum + 1000, x) == 1000;
    std::fill(sum, sum + 1000, 0.0f);
    return is;
  };
  struct check_shot s = {};
  s.sum.terms[0] = (u64)a;
  s.sum.terms[1] = (u64)b;
  s.sum.dst = (u64)sum;
  s.sum.count = 1000;
  s.sum.terms_count = 2;
  s.sum.element = 3;
  fused("check_shot", s, [&] { return all(0.0f); }, [&] { return all(3.0f); });
  return failures != 0;
}
