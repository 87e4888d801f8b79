// Packets: 4 bytes that are stored and loaded as one, the complement of 4 bytes of data. A rank stores them in its
// peers' memory; the peer looks at a packet until it is not 0, and takes it back to 0. So nothing has to be ordered
// with the data, and nobody posts. Where the complement is 0 or 1 the packet is 1 and its data lie beside: 8 bytes
// that are stored and loaded as one, the data and a flag above them. Four packets travel together.

#ifndef OVGEN_HOST

// store_packets stores four packets side by side, each as one.
DEVICE void store_packets(unsigned *to, const unsigned (&x)[4])
{
  const unsigned a = x[0], b = x[1], c = x[2], d = x[3];
  asm volatile("st.relaxed.sys.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// load_packets loads four packets side by side, each as one.
DEVICE void load_packets(const unsigned *w, unsigned (&x)[4])
{
  unsigned a, b, c, d;
  asm volatile("ld.relaxed.sys.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(w) : "memory");
  x[0] = a, x[1] = b, x[2] = c, x[3] = d;
}

// store_beside and load_beside are of the data of one packet with their flag.
DEVICE void store_beside(u64 *to, u64 x)
{
  asm volatile("st.relaxed.sys.u64 [%0], %1;" : : "l"(to), "l"(x) : "memory");
}

DEVICE u64 load_beside(const u64 *from)
{
  u64 x;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(x) : "l"(from) : "memory");
  return x;
}

#endif

static const u64 flag = 1ull << 32;

// send stores 16 bytes as four packets.
DEVICE void send(char *to, char *beside, uint4 v)
{
  const unsigned data[4] = {v.x, v.y, v.z, v.w};
  unsigned x[4];
  for (unsigned i = 0; i < 4; i++) {
    x[i] = ~data[i] == 0 ? 1 : ~data[i];
  }
  store_packets((unsigned *)to, x);
  for (unsigned i = 0; i < 4; i++) {
    if (x[i] == 1) {
      store_beside((u64 *)beside + i, data[i] | flag);
    }
  }
}

// look loads four packets.
DEVICE void look(const char *from, uint4 *v)
{
  unsigned x[4];
  load_packets((const unsigned *)from, x);
  *v = {x[0], x[1], x[2], x[3]};
}

// take_beside is the data beside a packet, which it takes back to 0.
DEVICE unsigned take_beside(u64 *at)
{
  u64 x;
  do {
    x = load_beside(at);
  } while (x < flag);
  store_beside(at, 0);
  return (unsigned)x;
}

// take makes 16 bytes of four packets once all are there, and takes them back to 0. v is what they were.
DEVICE uint4 take(char *from, char *beside, uint4 v)
{
  while (v.x == 0 || v.y == 0 || v.z == 0 || v.w == 0) {
    look(from, &v);
  }
  const unsigned packets[4] = {v.x, v.y, v.z, v.w}, nothing[4] = {};
  unsigned x[4];
  store_packets((unsigned *)from, nothing);
  for (unsigned i = 0; i < 4; i++) {
    x[i] = packets[i] == 1 ? take_beside((u64 *)beside + i) : ~packets[i];
  }
  return {x[0], x[1], x[2], x[3]};
}

// each_peer loads a unit of V for each of n peers, and has it. Both get the peer's number, from 0 on. Those of at_once
// peers are on their way together: a load takes as long as some hundred instructions.
template <unsigned at_once, typename V, typename L, typename H>
DEVICE void each_peer(unsigned n, L load, H have)
{
  for (unsigned first = 0; first < n; first += at_once) {
    V v[at_once] = {};
#pragma unroll
    for (unsigned i = 0; i < at_once; i++) {
      if (first + i < n) {
        load(first + i, &v[i]);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; i++) {
      if (first + i < n) {
        have(first + i, v[i]);
      }
    }
  }
}

// peer_of is a peer's rank by its number, in the order of ranks.
DEVICE unsigned peer_of(u64 rank, unsigned i) { return i < rank ? i : i + 1; }

enum { peers_at_once = 3 };

// A tensor that is only moved counts as elements of 16 bits.
struct halves { typedef unsigned short bits; };

// load_16 loads 16 bytes of a tensor. Behind the tensor's end, at bytes, they are zeros.
template <typename E>
DEVICE uint4 load_16(const char *tensor, u64 at, u64 bytes)
{
  typedef typename E::bits bits;
  if ((u64)tensor % 16 == 0 && at + 16 <= bytes) {
    return *(const uint4 *)(tensor + at);
  }
  unsigned x[4] = {};
  for (unsigned i = 0; i < 16; i += sizeof(bits)) {
    if (at + i < bytes) {
      x[i / 4] |= (unsigned)*(const bits *)(tensor + at + i) << 8 * (i % 4);
    }
  }
  return {x[0], x[1], x[2], x[3]};
}

// store_16 is the other way round.
template <typename E>
DEVICE void store_16(char *tensor, u64 at, u64 bytes, uint4 v)
{
  typedef typename E::bits bits;
  if ((u64)tensor % 16 == 0 && at + 16 <= bytes) {
    *(uint4 *)(tensor + at) = v;
    return;
  }
  const unsigned x[4] = {v.x, v.y, v.z, v.w};
  for (unsigned i = 0; i < 16; i += sizeof(bits)) {
    if (at + i < bytes) {
      *(bits *)(tensor + at + i) = (bits)(x[i / 4] >> 8 * (i % 4));
    }
  }
}

// part_of_rows is a block's part of the bytes: each block has as many as each says.
DEVICE struct Part part_of_rows(u64 bytes, u64 each)
{
  const u64 from = blockIdx.x * each < bytes ? blockIdx.x * each : bytes;
  return {from, each < bytes - from ? each : bytes - from};
}
