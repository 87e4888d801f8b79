// The types of device code, and instructions of PTX that C++ has no name for; a host brings its own instructions.

#define DEVICE static __device__ __forceinline__
typedef unsigned long long u64;

#ifndef OVGEN_HOST

// SHARED declares memory of the block.
#define SHARED(type, name, count) __shared__ type name[count]

DEVICE float exponential(float x) { return expf(x); }
DEVICE float square_root(float x) { return sqrtf(x); }

DEVICE unsigned load_acquire(const unsigned *word)
{
  unsigned value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

DEVICE void store_release(unsigned *word, unsigned value)
{
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

DEVICE void store_relaxed(unsigned *word, unsigned value)
{
  asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

// increment adds 1, or goes from last to 0; it returns what was there.
DEVICE unsigned increment(unsigned *word, unsigned last)
{
  unsigned old;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(last) : "memory");
  return old;
}

#endif

// Threads share a piece of work: first is the first item of this thread, and stride leads to its next.
struct Threads { u64 first, stride; };

DEVICE struct Threads all_threads() {
  return {(u64)blockIdx.x * blockDim.x + threadIdx.x, (u64)gridDim.x * blockDim.x};
}

DEVICE struct Threads threads_of_block() { return {threadIdx.x, blockDim.x}; }
