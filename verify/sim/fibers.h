// The stacks of the simulator's engine, which alone includes this: a thread of a launch runs on a fiber until it
// leaves, and goes on where it left when the fiber is entered again.

#ifndef OVGEN_FIBERS_H
#define OVGEN_FIBERS_H

#include "engine.h"

#include <ucontext.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

typedef ovgen_dim Dim;

// One launch runs at a time, under this lock. Fibers may go on on another thread of the host, so
// the built-in variables can't be thread-local.
std::mutex running;
int live;

// The part that packages see: the built-in variables say which thread runs.
extern ovgen_engine engine;

struct Launch;
struct Block;

// Where a stack goes on. The compiler's own jumps keep as little as that takes, and go from stack to stack.
typedef void *Place[5];

__attribute__((noipa, noreturn)) void go(Place &to) { __builtin_longjmp(to, 1); }

// What a fiber waits for. Those of a launch lie side by side: they are looked at most.
struct Wait {
  enum { idle, spinning, at_barrier, paused, failed } state;
  unsigned barrier;      // that the fiber has come to
  const unsigned *word;  // on which it spins, or the block's count of barriers
};

// A stack on which threads run, one after another.
struct Fiber {
  Launch *launch;
  size_t number;              // in the launch
  unsigned long long thread;  // that it runs
  unsigned long long index;   // of the thread in its block
  Block *block;               // of that thread
  Dim in, of;                 // where the thread is in its block, and the block in the grid
  const unsigned *seen;       // the word that the thread looked at last and that was not 1
  bool begun;
  Place here;        // where it goes on
  ucontext_t first;  // where it starts
  char *stack;
};

struct Block {
  std::map<const void *, std::vector<unsigned long long>> shared;  // its memory, by the declaration
  unsigned arrived;   // threads at the current barrier
  unsigned finished;  // threads that have returned
  unsigned barrier;   // barriers that have opened
};

struct Launch {
  void (*thread)(const void *params);      // of the kernel
  std::vector<unsigned long long> params;  // aligned for any struct of parameters
  Dim grid, block;
  unsigned long long threads;  // of a block
  unsigned long long next;     // thread to start
  unsigned long long total;
  unsigned long long seed;
  unsigned long long first;  // thread of a block that starts first
  unsigned resident;         // blocks that are there at a time, at most
  unsigned there;            // blocks that have started and not finished
  std::vector<Block> blocks;
  std::vector<Fiber *> fibers, idle;
  std::vector<Wait> waits;  // of the fibers
  Fiber *current;
  unsigned *written;  // the word after which the launch pauses; null: it does not
  unsigned long long sent;  // packets so far, four at a time
  std::string fault;  // of a call; empty: none
  Place host;
};

const size_t stack_bytes = 64 << 10;
Launch *current;

// A number below n, the next of the launch's seed.
unsigned pick(Launch *l, unsigned n)
{
  l->seed = l->seed * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<unsigned>(l->seed >> 33) % n;
}

// Gives fiber f a thread to run.
void take(Launch *l, Fiber *f, unsigned long long thread)
{
  const auto at = [](unsigned long long i, Dim n) -> Dim {
    if (i < n.x) {
      return {unsigned(i), 0, 0};
    }
    return {unsigned(i % n.x), unsigned(i / n.x % n.y), unsigned(i / n.x / n.y)};
  };
  f->thread = thread;
  f->block = &l->blocks[thread / l->threads];
  f->index = (thread + l->first) % l->threads;
  f->in = at(f->index, l->block);
  f->of = at(thread / l->threads, l->grid);
}

// Sets the built-in variables of the thread of fiber f.
void place(const Fiber *f)
{
  engine.threadIdx = f->in;
  engine.blockIdx = f->of;
}

// Opens the block's barrier when every thread that has not returned is there.
void open_barrier(Launch *l, Block *b)
{
  if (b->arrived > 0 && b->arrived + b->finished == l->threads) {
    b->arrived = 0;
    b->barrier++;
  }
}

// Whether the next thread may start: its block is there, or there is room for it.
bool room(Launch *l) { return l->next < l->total && (l->next % l->threads != 0 || l->there < l->resident); }

// Lets fiber f run until it leaves. Its first steps apart, no switch asks the kernel of the
// host for anything, as swapcontext does for the mask of signals.
__attribute__((noipa)) void enter(Launch *l, Fiber *f)
{
  l->current = f;
  if (__builtin_setjmp(l->host) != 0) {
    return;
  }
  if (f->begun) {
    go(f->here);
  }
  f->begun = true;
  setcontext(&f->first);
}

// Goes from fiber f back to who entered it, until f is entered again.
__attribute__((noipa)) void leave(Fiber *f, Wait until)
{
  f->launch->waits[f->number] = until;
  if (__builtin_setjmp(f->here) == 0) {
    go(f->launch->host);
  }
}

// Runs threads of one block until one has to wait or none is left.
void run_threads()
{
  Launch *l = current;
  Fiber *f = l->current;
  do {
    take(l, f, l->next++);
    f->seen = nullptr;
    l->there += f->thread % l->threads == 0;
    place(f);
    l->thread(l->params.data());
    Block *b = f->block;
    b->finished++;
    if (b->finished == l->threads) {
      l->there--;
      b->shared.clear();
    }
    open_barrier(l, b);
  } while (l->next % l->threads != 0);
  l->idle.push_back(f);
  leave(f, {Wait::idle, 0, nullptr});
}

// A fiber that has run out of threads ends here, and starts here when there are more.
void fiber_main()
{
  for (;;) {
    run_threads();
  }
}

// Idle fibers of launches that are gone.
std::vector<Fiber *> spare;
const size_t most_spare = 4096;

Fiber *new_fiber(Launch *l)
{
  Fiber *f;
  if (spare.empty()) {
    f = new Fiber();
    f->stack = static_cast<char *>(malloc(stack_bytes));
    getcontext(&f->first);
    f->first.uc_stack.ss_sp = f->stack;
    f->first.uc_stack.ss_size = stack_bytes;
    f->first.uc_link = nullptr;
    makecontext(&f->first, fiber_main, 0);
  } else {
    f = spare.back();
    spare.pop_back();
  }
  f->launch = l;
  f->number = l->fibers.size();
  l->fibers.push_back(f);
  l->waits.push_back({});
  return f;
}

void free_fiber(Fiber *f)
{
  if (f->launch->waits[f->number].state == Wait::idle && spare.size() < most_spare) {
    spare.push_back(f);
    return;
  }
  free(f->stack);
  delete f;
}

bool ready(const Wait &w)
{
  switch (w.state) {
  case Wait::spinning:
    return __atomic_load_n(w.word, __ATOMIC_ACQUIRE) != 0;
  case Wait::at_barrier:
    return *w.word != w.barrier;
  default:
    return w.state == Wait::paused;
  }
}

}  // namespace

#endif
