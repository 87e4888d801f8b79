// Instructions of compute capability 9.0a: barriers in shared memory, copies of boxes, and what threads of a
// warpgroup do together. Shared memory is named by its 32-bit address.

#ifndef OVGEN_LOOPS

// copies_see lets copies that the thread starts read what others wrote before it awaited them.
DEVICE void copies_see() { asm volatile("fence.proxy.async;" : : : "memory"); }

DEVICE unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

DEVICE unsigned rank_in_cluster()
{
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// cluster_arrive says that a thread is here, and cluster_wait holds it until all threads of the cluster have said so.
// They order nothing: new barriers are shown by barriers_ready, and a release would wait for copies.
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" : : : "memory"); }

// cluster_meet holds every thread until all threads of the cluster are here.
DEVICE void cluster_meet()
{
  cluster_arrive();
  cluster_wait();
}

DEVICE void barrier_init(unsigned barrier, unsigned arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(arrivals) : "memory");
}

// barriers_ready shows new barriers to the cluster and to copies.
DEVICE void barriers_ready()
{
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" : : : "memory");
}

// barrier_expect arrives. The barrier's phase then lasts until these bytes, too, have been copied.
DEVICE void barrier_expect(unsigned barrier, unsigned bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"(barrier), "r"(bytes) : "memory");
}

// barrier_arrive arrives at the barrier that a block of the cluster has at this address.
DEVICE void barrier_arrive(unsigned barrier, unsigned block)
{
  asm volatile(
      "{\n\t.reg .b32 at;\n\tmapa.shared::cluster.u32 at, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [at];\n\t}" : : "r"(barrier), "r"(block) : "memory");
}

// barrier_release is barrier_arrive behind what the thread, and those that it met, stored in that block.
DEVICE void barrier_release(unsigned barrier, unsigned block)
{
  asm volatile(
      "{\n\t.reg .b32 at;\n\tmapa.shared::cluster.u32 at, %0, %1;\n\t"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n\t}" : : "r"(barrier), "r"(block) : "memory");
}

// barrier_wait holds the thread until the phase of that parity is over.
DEVICE void barrier_wait(unsigned barrier, unsigned parity)
{
  unsigned over;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
  } while (!over);
}

// barrier_wait_cluster is barrier_wait, behind which the thread sees what was stored before a barrier_release.
DEVICE void barrier_wait_cluster(unsigned barrier, unsigned parity)
{
  unsigned over;
  do {
    asm volatile(
        "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
  } while (!over);
}

// store_in_cluster stores four numbers at an address of a block of the cluster, and load_shared loads four of the own.
DEVICE void store_in_cluster(unsigned to, unsigned block, float a, float b, float c, float d)
{
  asm volatile(
      "{\n\t.reg .b32 at;\n\tmapa.shared::cluster.u32 at, %0, %1;\n\t"
      "st.shared::cluster.v4.f32 [at], {%2, %3, %4, %5};\n\t}"
      : : "r"(to), "r"(block), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}

DEVICE void load_shared(float (&x)[4], unsigned from)
{
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "r"(from) : "memory");
}

// load_box copies a box to shared memory, and its bytes arrive at the barrier.
DEVICE void load_box(unsigned to, const struct Map *from, unsigned barrier, unsigned column, unsigned row,
                     unsigned shard)
{
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];"
      : : "r"(to), "l"(from), "r"(barrier), "r"(column), "r"(row), "r"(shard) : "memory");
}

// load_box_by is load_box with a policy of the second cache.
DEVICE void load_box_by(u64 policy, unsigned to, const struct Map *from, unsigned barrier, unsigned column,
                        unsigned row, unsigned shard)
{
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;"
      : : "r"(to), "l"(from), "r"(barrier), "r"(column), "r"(row), "r"(shard), "l"(policy) : "memory");
}

// load_box_to_all is load_box to the same place in each block of the mask, where the bytes arrive too.
DEVICE void load_box_to_all(unsigned to, const struct Map *from, unsigned barrier, unsigned column, unsigned row,
                            unsigned shard, unsigned mask)
{
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4, %5}], [%2], %6;"
      : : "r"(to), "l"(from), "r"(barrier), "r"(column), "r"(row), "r"(shard), "h"((unsigned short)mask)
      : "memory");
}

// store_box copies a box from shared memory. boxes_left holds the thread until few enough of its copies still read
// shared memory, boxes_written until all have written memory.
DEVICE void store_box(const struct Map *to, unsigned from, unsigned column, unsigned row, unsigned shard)
{
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];\n\t"
               "cp.async.bulk.commit_group;"
               : : "l"(to), "r"(from), "r"(column), "r"(row), "r"(shard) : "memory");
}

template <int left>
DEVICE void boxes_left()
{
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(left) : "memory");
}

DEVICE void boxes_written() { asm volatile("cp.async.bulk.wait_group 0;" : : : "memory"); }

// shared_written shows what the thread stored in shared memory to copies.
DEVICE void shared_written() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }

// meet holds the thread until as many as threads says are here. arrive counts the thread as here, and lets it go on.
DEVICE void meet(unsigned number, unsigned threads)
{
  asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void arrive(unsigned number, unsigned threads)
{
  asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

// rest holds the thread for about these nanoseconds.
DEVICE void rest(unsigned nanoseconds) { __nanosleep(nanoseconds); }

// A warpgroup gives registers back, or takes more.
template <int registers>
DEVICE void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers)); }

template <int registers>
DEVICE void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers)); }

// operand describes rows of 128 bytes in shared memory to the tensor cores, swizzled by 128 bytes as copies of
// boxes leave them: 8 rows are 1024 bytes.
DEVICE u64 operand(unsigned at)
{
  return (u64)((at & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

// multiply_begin and multiply_end enclose multiplications, which run behind the thread. multiplied holds the thread
// until few enough groups of them run.
DEVICE void multiply_begin() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
DEVICE void multiply_end() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }

template <int left>
DEVICE void multiplied()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(left) : "memory");
}

// EIGHT numbers from the i-th on, as operands that an instruction changes.
#define EIGHT(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
  "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// store_matrices stores four 8x8 matrices of 16-bit elements; lane 8i + j has the address of row j of matrix i.
DEVICE void store_matrices(unsigned to, const unsigned (&x)[4])
{
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               : : "r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]) : "memory");
}

// load_matrices loads four 8x8 matrices as store_matrices stores them.
DEVICE void load_matrices(unsigned (&x)[4], unsigned from)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from) : "memory");
}

// Ring is the place of a thread in a ring of stages, which it goes round again and again.
template <unsigned stages>
struct Ring {
  unsigned stage, round;

  __device__ __forceinline__ void next()
  {
    if (++stage == stages) {
      stage = 0;
      round ^= 1;
    }
  }

  __device__ __forceinline__ void skip(unsigned count)
  {
    round ^= count / stages & 1;
    stage += count % stages;
    if (stage >= stages) {
      stage -= stages;
      round ^= 1;
    }
  }
};

#endif
