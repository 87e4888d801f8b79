// Rows that the blocks of a kernel make and send as packets, each block its own. Results of whole units of 16 bytes go
// by four packets at once, others by single packets.

#ifndef OVGEN_HOST

// store_packet and load_packet are of a single packet.
DEVICE void store_packet(unsigned *to, unsigned x)
{
  asm volatile("st.relaxed.sys.b32 [%0], %1;" : : "l"(to), "r"(x) : "memory");
}

DEVICE unsigned load_packet(const unsigned *from)
{
  unsigned x;
  asm volatile("ld.relaxed.sys.b32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}

#endif

// A single packet, where blocks share 16 bytes.
DEVICE void send(char *to, char *beside, unsigned data)
{
  const unsigned x = ~data == 0 ? 1 : ~data;
  store_packet((unsigned *)to, x);
  if (x == 1) {
    store_beside((u64 *)beside, data | flag);
  }
}

DEVICE void look(const char *from, unsigned *v) { *v = load_packet((const unsigned *)from); }

DEVICE unsigned take(char *from, char *beside, unsigned v)
{
  while (v == 0) {
    look(from, &v);
  }
  store_packet((unsigned *)from, 0u);
  return v == 1 ? take_beside((u64 *)beside) : ~v;
}

// load_packed and store_packed are of what a single packet, or four, carry, of a tensor that is only moved.
DEVICE void load_packed(const char *tensor, u64 at, u64 bytes, uint4 *v) { *v = load_16<halves>(tensor, at, bytes); }

DEVICE void store_packed(char *tensor, u64 at, u64 bytes, uint4 v) { store_16<halves>(tensor, at, bytes, v); }

DEVICE void load_packed(const char *tensor, u64 at, u64 bytes, unsigned *v)
{
  if ((u64)tensor % 4 == 0 && at + 4 <= bytes) {
    *v = *(const unsigned *)(tensor + at);
    return;
  }
  *v = *(const unsigned short *)(tensor + at);
  if (at + 2 < bytes) {
    *v |= (unsigned)*(const unsigned short *)(tensor + at + 2) << 16;
  }
}

DEVICE void store_packed(char *tensor, u64 at, u64 bytes, unsigned v)
{
  if ((u64)tensor % 4 == 0 && at + 4 <= bytes) {
    *(unsigned *)(tensor + at) = v;
    return;
  }
  *(unsigned short *)(tensor + at) = (unsigned short)v;
  if (at + 2 < bytes) {
    *(unsigned short *)(tensor + at + 2) = (unsigned short)(v >> 16);
  }
}

// Going is a result of this rank's rows that goes to all ranks.
struct Going {
  u64 away;  // bytes from a rank's first landing to that of the result
  u64 part;  // bytes of a part of it, a rank's
  u64 half;  // bytes from one half to the other
  u64 beside;  // bytes from the first packet of a part to what lies beside it
  u64 row;  // bytes of a row
  u64 bytes;  // of this rank's rows
  char *all;  // where those of all ranks lie in their order
};

// half_of is the bytes to the half of a landing that a launch uses.
DEVICE u64 half_of(const struct Going &g, unsigned turn) { return turn == 0 ? 0 : g.half; }

// rows_of is the part of a result that is some rows from the top one on.
DEVICE struct Part rows_of(const struct Going &g, unsigned top, unsigned rows)
{
  return {top * g.row, rows * g.row};
}

// turns_of are the words of blocks that say which half of a landing they use.
template <typename P>
DEVICE unsigned *turns_of(const P &p, const struct Going &g)
{
  return (unsigned *)(p.landing[p.rank] + g.away + 2 * g.half);
}

// send_rows sends rows of a result from the top one on, in units of V, and puts them in their place among all.
template <typename V, typename P>
DEVICE void send_rows(const P &p, const struct Going &g, const char *made, unsigned turn, unsigned top, unsigned rows)
{
  const struct Part part = rows_of(g, top, rows);
  const u64 half = half_of(g, turn), end = part.from + part.bytes, stride = sizeof(V) * blockDim.x;
  for (u64 i = part.from + sizeof(V) * threadIdx.x; i < end; i += stride) {
    V v = {};
    load_packed(made, i, g.bytes, &v);
    for (unsigned ahead = 1; ahead <= p.n; ahead++) {  // the own ones last
      const unsigned q = rank_after(p.rank, ahead, p.n);
      char *const to = p.landing[q] + g.away + half + p.rank * g.part;
      if (q != p.rank) {
        send(to + i, to + g.beside + 2 * i, v);
      } else {
        store_packed(g.all + q * g.bytes, i, g.bytes, v);
      }
    }
  }
}

// take_rows puts the same rows of all other ranks in their places.
template <typename V, typename P>
DEVICE void take_rows(const P &p, const struct Going &g, unsigned turn, unsigned top, unsigned rows)
{
  const struct Part part = rows_of(g, top, rows);
  const u64 half = half_of(g, turn), end = part.from + part.bytes, stride = sizeof(V) * blockDim.x;
  for (u64 i = part.from + sizeof(V) * threadIdx.x; i < end; i += stride) {
    for (unsigned k = 0; k + 1 < p.n; k++) {
      const u64 q = peer_of(p.rank, k);
      char *const from = p.landing[p.rank] + g.away + half + q * g.part;
      store_packed(g.all + q * g.bytes, i, g.bytes, take(from + i, from + g.beside + 2 * i, V()));
    }
  }
}
