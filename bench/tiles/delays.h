// Delays at random in the kernels of tiles, for a build that tests them: delays.py puts this text behind the headers.

// delay holds a thread in one of `seldom` calls: for the time of a few tiles at most, and in one of 64 of these for
// longer than a run takes. A hash of the clock, the block and the place decides.
DEVICE void delay(unsigned place, unsigned seldom)
{
  const long long now = clock64();
  unsigned x = (unsigned)now ^ blockIdx.x * 0x9e3779b9u ^ place * 0x85ebca6bu;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  x ^= x >> 16;
  if (x % seldom == 0) {
    const unsigned most = x / seldom % 64 == 0 ? 1 << 17 : 1 << 12, cycles = (x >> 8) % most;
    while (clock64() - now < cycles) {
    }
  }
}

// Before a thread waits for a word, posts, counts, lets shared memory be filled, and pulls.
#define await_word(...) (delay(1, 2), await_word(__VA_ARGS__))
#define store_release(...) (delay(2, 2), store_release(__VA_ARGS__))
#define post_words(...) (delay(3, 2), post_words(__VA_ARGS__))
#define increment(...) (delay(4, 4), increment(__VA_ARGS__))
#define load_box(...) (delay(5, 64), load_box(__VA_ARGS__))
#define load_box_by(...) (delay(5, 64), load_box_by(__VA_ARGS__))
#define boxes_written(...) (delay(6, 4), boxes_written(__VA_ARGS__))
#define copy_units(...) (delay(7, 8), copy_units(__VA_ARGS__))
