// Moving bytes, from a peer's memory or to it as well as within its own. A thread keeps four loads
// in flight, since a load over NVLink takes a microsecond.

// copy_as moves units of T, for which dst and src must be aligned alike, and the bytes before the
// first unit and after the last one by one.
template <typename T>
DEVICE void copy_as(char *dst, const char *src, u64 bytes, struct Threads t)
{
  const u64 stride = t.stride;
  u64 head = (0 - (u64)dst) % sizeof(T);
  if (head > bytes) {
    head = bytes;
  }
  const u64 units = (bytes - head) / sizeof(T);
  T *to = (T *)(dst + head);
  const T *from = (const T *)(src + head);
  u64 i = t.first;
  for (; i + 3 * stride < units; i += 4 * stride) {
    T v[4];
    for (unsigned u = 0; u < 4; u++) {
      v[u] = from[i + u * stride];
    }
    for (unsigned u = 0; u < 4; u++) {
      to[i + u * stride] = v[u];
    }
  }
  // At most three are left. Asking for each costs a branch, so only these are asked for.
  T v[3] = {};
  for (unsigned u = 0; u < 3; u++) {
    if (i + u * stride < units) {
      v[u] = from[i + u * stride];
    }
  }
  for (unsigned u = 0; u < 3; u++) {
    if (i + u * stride < units) {
      to[i + u * stride] = v[u];
    }
  }
  const u64 middle = units * sizeof(T);
  for (i = t.first; i < bytes - middle; i += stride) {
    const u64 at = i < head ? i : i + middle;
    dst[at] = src[at];
  }
}

// copy_bytes is a thread's part in a copy. Elements have two bytes or more.
DEVICE void copy_bytes(char *dst, const char *src, u64 bytes, struct Threads t)
{
  const u64 apart = (u64)dst ^ (u64)src;  // where both are aligned alike, low bits are 0
  if (apart % 16 == 0) {
    copy_as<uint4>(dst, src, bytes, t);
  } else if (apart % 4 == 0) {
    copy_as<unsigned>(dst, src, bytes, t);
  } else {
    copy_as<unsigned short>(dst, src, bytes, t);
  }
}
