/*
 * The engine that runs kernels compiled for the host. A generated package has its kernels in a
 * table; templates/device/host.h has the same declarations of the two structs.
 */
#ifndef OVGEN_ENGINE_H
#define OVGEN_ENGINE_H

#ifdef __cplusplus
extern "C" {
#endif

struct ovgen_dim {
  unsigned x, y, z;
};

/* The built-in variables of the running thread and the calls that a GPU has and a host has not. */
struct ovgen_engine {
  struct ovgen_dim threadIdx, blockIdx, blockDim, gridDim;
  void (*sync_threads)(void);
  float (*half_to_float)(unsigned bits);
  unsigned (*float_to_half)(float x);
  unsigned (*float_to_bfloat)(float x);
  unsigned long long (*globaltimer)(void);
  unsigned (*load_acquire)(const unsigned *word);
  void (*store_release)(unsigned *word, unsigned value);
  void (*store_relaxed)(unsigned *word, unsigned value);
  unsigned (*increment)(unsigned *word, unsigned last);
  void *(*shared)(const void *name, unsigned long long bytes); /* of the block, by the declaration's own address */
  /* Four packets side by side, words that are not 0, or one; and beside a packet 32 bits of data and, above them, a
     flag. */
  void (*store_packets)(unsigned *to, const unsigned *x);
  void (*load_packets)(const unsigned *from, unsigned *x);
  void (*store_packet)(unsigned *to, unsigned x);
  unsigned (*load_packet)(const unsigned *from);
  void (*store_beside)(unsigned long long *to, unsigned long long x);
  unsigned long long (*load_beside)(const unsigned long long *from);
  /* Ends the launch: a call has left one of its tensors. */
  void (*outside)(const char *call, const char *tensor, int writes, long long offset, unsigned long long bytes);
};

/* One kernel of a package's table, which ends with a null name. */
struct ovgen_kernel {
  const char *name;
  unsigned long long bytes;           /* of its parameters */
  void (*thread)(const void *params); /* what one thread does */
};

/* Gives the engine to the package whose table this function returns. */
const struct ovgen_kernel *engine_load(void *kernels);

/* Starts a launch; params is copied, and seed picks the order of its threads. */
void *engine_start(const struct ovgen_kernel *kernel, const void *params, const unsigned grid[3],
                   const unsigned block[3], unsigned long long seed);

/* Lets all blocks of a launch be there at a time; else they are a few, by seed. */
void engine_at_once(void *launch);

/*
 * Runs until the launch has finished (0), or every thread waits (1): *addr is the first of the
 * words that they spin on until it is 1, or 0 when all of them wait for their blocks, which
 * nothing can end; call it again when a word may have changed. Or until it pauses (2) after it
 * has written the word *addr; call it again at any time. Or until it fails (3), which
 * engine_fault explains.
 */
int engine_resume(void *launch, unsigned long long *addr, unsigned *value);

/* The packets that a launch has sent: a launch that waits may go on by any of them, not by the words it posts alone. */
unsigned long long engine_sent(void *launch);

/* What a launch that has failed did wrong. */
const char *engine_fault(void *launch);

/* Ends a launch, finished or not. */
void engine_destroy(void *launch);

/* Launches that were started and not destroyed. */
int engine_live(void);

#ifdef __cplusplus
}
#endif

#endif
