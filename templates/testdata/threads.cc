// A test of the kernels as they are in the .cu, their inline PTX included, with a thread of
// the host for each of theirs and random delays, under ThreadSanitizer. The arguments are a
// seed for the delays and kernels; without any, it is of all.
#include <deque>
#include <set>
#include <thread>

#include "launches.h"

#include "kernels.cc"

using namespace right;

#define ON_THREADS
#include "ranks.h"

// How long no thread may write a word before they all wait for ever.
enum { patience = 15 };

static std::atomic<unsigned> numbered;  // blocks

// A thread of the host that runs one thread of each launch of its rank. They live as long as
// the process, since ThreadSanitizer gives the number of a thread that is gone to another and
// takes the two for one. Each has a lock of its own, so that none orders two of them.
struct Worker {
  std::mutex lock;
  std::condition_variable changed;
  std::function<void()> job;

  Worker()
  {
    std::thread([this] {
      for (;;) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [this] { return job != nullptr; });
        const std::function<void()> now = job;
        held.unlock();
        now();
        held.lock();
        job = nullptr;
        changed.notify_all();
      }
    }).detach();
  }

  void start(std::function<void()> f)
  {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [this] { return job == nullptr; });
    job = f;
    changed.notify_all();
  }

  void finish()
  {
    std::unique_lock<std::mutex> held(lock);
    changed.wait(held, [this] { return job == nullptr; });
  }
};

// The workers of a block, which the rank's thread makes as it needs them. Launches that may overlap have others.
typedef std::vector<Worker *> Workers;
static Workers workers[ranks][overlapping][blocks];

// The launches that start early, and wait first.
static bool starts_early(const std::string &kernel)
{
  static const std::set<std::string> early = {
#define NAMED(name) #name,
    EARLY(NAMED)
  };
  return early.count(kernel) > 0;
}

// The launches of a rank. One starts as soon as the one before it lets it: a plain one when that has ended, and any
// behind work of the host, which lets it start at once.
struct Stream {
  unsigned device, seed, early;
  std::deque<Launch> all;

  template <typename Work>
  void launch(unsigned grid, unsigned width, bool waits, Work work)
  {
    Launch *const last = all.empty() ? nullptr : &all.back(), *const now = &all.emplace_back(last, grid, width, warp);
    while (last != nullptr && !(waits ? last->lets_next() : last->has_ended())) {
      usleep(20);
    }
    const unsigned slot = waits ? 1 + early++ % (overlapping - 1) : 0;  // plain ones have all threads by themselves
    for (unsigned b = 0; b < grid; b++) {
      const unsigned block = 1 + numbered.fetch_add(1, std::memory_order_relaxed);
      Workers &list = workers[device][slot][b];
      for (unsigned t = 0; t < width; t++) {
        if (t == list.size()) {
          list.push_back(new Worker);
        }
        list[t]->start([=] {
          thread_of(*now, {device, block, device * overlapping + slot}, b, t, waits,
                    seed * 1000003ull + block * 101 + t, work);
        });
      }
    }
  }

  // What the host does lets the next launch start, which must not see it before it has waited.
  void host(const Step *first, const Step *behind)
  {
    launch(1, 1, true, [=] {
      ptx_griddepcontrol_launch_dependents();
      ptx_griddepcontrol_wait();
      for (const Step *s = first; s != behind; s++) {
        s->host();
      }
    });
  }

  ~Stream()
  {
    for (const auto &slot : workers[device]) {
      for (const Workers &block : slot) {
        for (Worker *w : block) {
          w->finish();
        }
      }
    }
  }
};

static void play(World &w, unsigned r, unsigned seed)
{
  Stream stream = {r, seed, 0, {}};
  const std::vector<Step> &steps = w.of[r].steps;
  for (const Step *s = steps.data(), *const end = s + steps.size(); s != end;) {
    const Step *const first = s++;
    if (!first->kernel.empty()) {
      const Entry &kernel = find(first->kernel.c_str());
      stream.launch(first->blocks, first->width, starts_early(first->kernel),
                    [&kernel, first] { kernel.thread(first->params.data()); });
      continue;
    }
    for (; s != end && s->kernel.empty(); s++) {
    }
    stream.host(first, s);
  }
}

// Ends the process where nothing moves any more.
static void watch(const char *name)
{
  std::thread([name] {
    for (unsigned last = 0, still = 0; still < 10 * patience; still++) {
      usleep(100000);
      const unsigned now = progress.load(std::memory_order_relaxed);
      if (last != now) {
        last = now;
        still = 0;
      }
    }
    printf("%s: threads wait for ever\n", name);
    fflush(stdout);
    _exit(1);
  }).detach();
}

int main(int, char **args)
{
  const unsigned seed = (unsigned)atoi(args[1]);
  watch("the ranks");
  for (const Kind &k : kinds) {
    if (!named(k, args + 2) || failures > 0) {
      continue;
    }
    auto w = world(k);
    std::vector<std::thread> all;
    for (unsigned r = 0; r < ranks; r++) {
      all.emplace_back([&w, r, seed] { play(*w, r, seed); });
    }
    for (std::thread &t : all) {
      t.join();
    }
    ended(*w);
  }
  fflush(stdout);
  _exit(failures != 0);  // the workers wait for more
}
