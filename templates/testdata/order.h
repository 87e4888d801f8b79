// CUDA's memory model under ThreadSanitizer: what the functions of ptx.h do. Every thread of a kernel is a thread of
// the host. The kernels' instructions order them, each at its scope: ThreadSanitizer learns of these orders alone, and
// sees plain atomics that order nothing.
#pragma once
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "numbers.h"
#include "ptx.h"
#include "word.h"

extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);

__thread Dim threadIdx, blockIdx, blockDim, gridDim;
__thread Place here;

// ----------------------------------------------------------------------------
// Threads

// A block of threads with its barrier. Threads that have returned are not waited for.
struct Team {
  std::mutex lock;
  std::condition_variable open;
  unsigned left, arrived = 0, turn = 0;

  void pass()
  {
    if (arrived > 0 && arrived == left) {
      arrived = 0;
      turn++;
      open.notify_all();
    }
  }

  void sync()
  {
    std::unique_lock<std::mutex> held(lock);
    const unsigned now = turn;
    arrived++;
    pass();
    open.wait(held, [&] { return turn != now; });
  }

  void leave()
  {
    std::lock_guard<std::mutex> held(lock);
    left--;
    pass();
  }
};

static thread_local Team *team, *together;  // of its block, and of its warp
static thread_local unsigned long long chance = 1;

// Moves with every write, so that threads that wait for ever are found.
static std::atomic<unsigned> progress;

static unsigned below(unsigned n)
{
  chance = chance * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(chance >> 33) % n;
}

static void delay()
{
  if (below(4) == 0) {
    const timespec time = {0, below(300) * 1000};
    syscall(SYS_nanosleep, &time, nullptr);  // of usleep ThreadSanitizer would keep when it ended, for its reports
  }
}

void sync_threads()
{
  delay();
  team->sync();
}

void sync_warp()
{
  delay();
  together->sync();
}

// ----------------------------------------------------------------------------
// Orders

// The accesses of a thread up to a release: ThreadSanitizer keeps it at an address of its
// own, of which there is one in 8 bytes.
enum { most_releases = 1 << 20 };
static unsigned long long released[most_releases];
static std::atomic<unsigned long long> releasers[most_releases];  // scope, device, block
static std::atomic<unsigned> releases;

static bool within(Scope s, Place a, Place b) {
  return s == sys || (a.device == b.device && (s == gpu || a.block == b.block));
}

static unsigned publish(Scope s)
{
  const unsigned id = 1 + releases.fetch_add(1, std::memory_order_relaxed);
  if (id >= most_releases) {
    printf("too many releases\n");
    _exit(1);
  }
  releasers[id].store((unsigned long long)s << 60 | (unsigned long long)here.device << 32 | here.block,
                      std::memory_order_relaxed);
  __tsan_release(&released[id]);
  return id;
}

static Scope scope_of(unsigned id) { return (Scope)(releasers[id].load(std::memory_order_relaxed) >> 60); }

// An acquire sees a release that it reads from where each is in the other's scope.
static void see(unsigned id, Scope s)
{
  const unsigned long long by = releasers[id].load(std::memory_order_relaxed);
  const Place from = {(unsigned)(by >> 32 & 0xfffffff), (unsigned)by, 0};
  if (id != 0 && within(s, here, from) && within(scope_of(id), from, here)) {
    __tsan_acquire(&released[id]);
  }
}

static thread_local unsigned fenced;              // the release of the thread's last fence
static thread_local std::vector<unsigned> unseen;  // what its relaxed loads have read since

void fence(Scope s)
{
  delay();
  for (unsigned id : unseen) {
    see(id, s);
  }
  unseen.clear();
  fenced = publish(s);
}

// A word's value is in the low half, the release of its writer in the high one.
static unsigned long long *whole(const unsigned *word) { return (unsigned long long *)word; }

unsigned load(const unsigned *word, Order order, Scope s)
{
  const unsigned long long x = __atomic_load_n(whole(word), __ATOMIC_RELAXED);
  if ((unsigned)x != 1) {
    usleep(20);
  } else if (order == acquire) {
    see((unsigned)(x >> 32), s);
  } else {
    unseen.push_back((unsigned)(x >> 32));
  }
  return (unsigned)x;
}

// A post comes after the reset of the wait before it: the reset writes what the post reads.
static void in_turn(unsigned *word, unsigned value)
{
  Word *w = (Word *)word;
  const unsigned turn = __atomic_load_n(&w->resets, __ATOMIC_RELAXED);
  if (value != 0) {
    volatile unsigned char look = w->turns[turn];
    (void)look;
    return;
  }
  w->turns[(turn + 1) % sizeof w->turns] = 1;
  __atomic_store_n(&w->resets, (turn + 1) % sizeof w->turns, __ATOMIC_RELAXED);
}

void store(unsigned *word, unsigned value, Order order, Scope s)
{
  delay();
  in_turn(word, value);
  unsigned by = fenced != 0 && scope_of(fenced) <= s ? fenced : 0;
  if (order == release) {
    by = publish(s);
  }
  __atomic_store_n(whole(word), (unsigned long long)by << 32 | value, __ATOMIC_RELAXED);
  progress.fetch_add(1, std::memory_order_relaxed);
  delay();
}

// The end of a launch and the start of the next are fences for the system. What is before them is all that packets
// order: the fence before its launch goes with each, and who has passed it knows that after its own launch.
static thread_local unsigned before_launch;
static thread_local std::vector<unsigned> passed;

[[maybe_unused]] static void begins() { before_launch = publish(sys); }

[[maybe_unused]] static void ends()
{
  for (unsigned id : passed) {
    see(id, sys);
  }
  passed.clear();
}

// A packet comes after the reset of the one before it: what the reset writes, it reads.
struct Turns {
  unsigned resets, launch;
  unsigned char turns[12];
};

static Turns *turns_of(const void *packet)
{
  static Turns all[1 << 17];
  return &all[(unsigned long long)packet / 4 % (1 << 17)];
}

// T is a packet, or 8 bytes beside one; 0 is a reset.
template <typename T>
static void put_packet(T *to, T x)
{
  delay();
  Turns *const t = turns_of(to);
  const unsigned turn = __atomic_load_n(&t->resets, __ATOMIC_RELAXED);
  if (x != 0) {
    volatile unsigned char look = t->turns[turn];
    (void)look;
    __atomic_store_n(&t->launch, before_launch, __ATOMIC_RELAXED);
  } else {
    t->turns[(turn + 1) % sizeof t->turns] = 1;
    __atomic_store_n(&t->resets, (turn + 1) % sizeof t->turns, __ATOMIC_RELAXED);
  }
  __atomic_store_n(to, x, __ATOMIC_RELAXED);
  progress.fetch_add(1, std::memory_order_relaxed);
}

template <typename T>
static T get_packet(const T *from)
{
  const T x = __atomic_load_n(from, __ATOMIC_RELAXED);
  if (x == 0) {
    usleep(20);
    return x;
  }
  passed.push_back(__atomic_load_n(&turns_of(from)->launch, __ATOMIC_RELAXED));
  return x;
}

template <typename Next>
static unsigned modify(unsigned *word, Order order, Scope s, Next next)
{
  delay();
  unsigned long long x = __atomic_load_n(whole(word), __ATOMIC_RELAXED);
  for (;;) {
    // A release goes on being seen through what is read and written as one.
    unsigned by = (unsigned)(x >> 32);
    if (order == acquire || order == acq_rel) {
      see(by, s);
    }
    if (order == release || order == acq_rel) {
      by = publish(s);
    }
    if (__atomic_compare_exchange_n(whole(word), &x, (unsigned long long)by << 32 | next((unsigned)x), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      progress.fetch_add(1, std::memory_order_relaxed);
      return (unsigned)x;
    }
  }
}

unsigned count(unsigned *word, unsigned last, Order order, Scope s)
{
  return modify(word, order, s, [&](unsigned x) { return x >= last ? 0 : x + 1; });
}

unsigned add(unsigned *word, unsigned by, Order order, Scope s)
{
  return modify(word, order, s, [&](unsigned x) { return x + by; });
}

void store_packet(unsigned *to, unsigned x) { put_packet(to, x); }
void store_packet(unsigned long long *to, unsigned long long x) { put_packet(to, x); }
unsigned load_packet(const unsigned *from) { return get_packet(from); }
unsigned long long load_packet(const unsigned long long *from) { return get_packet(from); }

float from_half(unsigned short bits) { return (float)value(2, bits); }
unsigned short to_half(float x) { return (unsigned short)bits_of(2, rounded(2, x)); }
unsigned short to_bfloat(float x) { return (unsigned short)bits_of(1, rounded(1, x)); }
unsigned short towards_zero_half(float x) { return (unsigned short)bits_of(2, x); }
unsigned short towards_zero_bfloat(float x) { return (unsigned short)bits_of(1, x); }
