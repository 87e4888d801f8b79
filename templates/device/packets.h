// Packets: 8 bytes that are stored and loaded as one, 4 of data and a flag above them. A rank stores them in its
// peers' memory; the peer looks at a packet until its flag is 1, and takes the packet back to 0. So nothing has to be
// ordered with the data, and nobody posts. Two packets, of 8 bytes of a tensor, travel together.

#ifndef OVGEN_HOST

// store_packets stores two packets side by side, each as one.
DEVICE void store_packets(u64 *to, u64 a, u64 b)
{
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};" : : "l"(to), "l"(a), "l"(b) : "memory");
}

// load_packets loads two packets side by side, each as one.
DEVICE void load_packets(const u64 *from, u64 &a, u64 &b)
{
  asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
}

#endif

// A thread has so many pairs of packets in flight of each rank.
enum { pairs_at_once = 2 };

static const u64 flag = 1ull << 32;

// send stores 8 bytes as two packets.
DEVICE void send(char *to, u64 v) { store_packets((u64 *)to, (v & 0xffffffffu) | flag, v >> 32 | flag); }

// look loads two packets, and says whether both are there.
DEVICE bool look(const char *from, u64 *v)
{
  u64 a, b;
  load_packets((const u64 *)from, a, b);
  *v = (a & 0xffffffffu) | b << 32;
  return (a & b & flag) != 0;
}

// clear takes two packets back to 0.
DEVICE void clear(char *at) { store_packets((u64 *)at, 0, 0); }

// Elements of 16 bits, of which every tensor that is only moved consists.
struct halves { typedef unsigned short bits; };

// load_8 is 8 bytes of a tensor of so many bytes, with zeros behind its end.
template <typename E>
DEVICE u64 load_8(const char *tensor, u64 at, u64 bytes)
{
  typedef typename E::bits bits;
  if ((u64)tensor % 8 == 0 && at + 8 <= bytes) {
    return *(const u64 *)(tensor + at);
  }
  u64 v = 0;
  for (unsigned i = 0; i < 8; i += sizeof(bits)) {
    if (at + i < bytes) {
      v |= (u64) * (const bits *)(tensor + at + i) << 8 * i;
    }
  }
  return v;
}

// store_8 is the other way round.
template <typename E>
DEVICE void store_8(char *tensor, u64 at, u64 bytes, u64 v)
{
  typedef typename E::bits bits;
  if ((u64)tensor % 8 == 0 && at + 8 <= bytes) {
    *(u64 *)(tensor + at) = v;
    return;
  }
  for (unsigned i = 0; i < 8; i += sizeof(bits)) {
    if (at + i < bytes) {
      *(bits *)(tensor + at + i) = (bits)(v >> 8 * i);
    }
  }
}

// add_8 adds the elements of 8 bytes, rounded_8 makes 8 bytes of them.
template <typename E>
DEVICE void add_8(float *x, u64 v)
{
  for (unsigned i = 0; i < 8 / sizeof(typename E::bits); i++) {
    x[i] += E::widen((typename E::bits)(v >> 8 * sizeof(typename E::bits) * i));
  }
}

template <typename E>
DEVICE u64 rounded_8(const float *x)
{
  u64 v = 0;
  for (unsigned i = 0; i < 8 / sizeof(typename E::bits); i++) {
    v |= (u64)E::narrow(x[i]) << 8 * sizeof(typename E::bits) * i;
  }
  return v;
}
