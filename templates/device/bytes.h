// Moving bytes, from a peer's memory or to it as well as within its own. A thread keeps four loads
// in flight, since a load over NVLink takes a microsecond.

// rest_one_by_one moves the rest of fewer than four units a thread. It takes few registers, so that a
// copy fits beside a product on a multiprocessor.
struct rest_one_by_one {
  template <typename T>
  static __device__ __forceinline__ void rest(T *to, const T *from, const T *end, u64 stride)
  {
#pragma unroll 1
    for (; from < end; from += stride, to += stride) {
      *to = *from;
    }
  }
};

// rest_at_once has the loads of the rest in flight at once too, for copies of few units a thread.
struct rest_at_once {
  template <typename T>
  static __device__ __forceinline__ void rest(T *to, const T *from, const T *end, u64 stride)
  {
    T v[3] = {};
    for (unsigned u = 0; u < 3; u++) {
      if (from + u * stride < end) {
        v[u] = from[u * stride];
      }
    }
    for (unsigned u = 0; u < 3; u++) {
      if (from + u * stride < end) {
        to[u * stride] = v[u];
      }
    }
  }
};

// copy_as moves units of T, for which dst and src must be aligned alike, and the bytes before the
// first unit and after the last one by one.
template <typename T, typename Rest>
DEVICE void copy_as(char *dst, const char *src, u64 bytes, struct Threads t)
{
  const u64 stride = t.stride;
  u64 head = (0 - (u64)dst) % sizeof(T);
  if (head > bytes) {
    head = bytes;
  }
  const u64 units = (bytes - head) / sizeof(T);
  T *to = (T *)(dst + head) + t.first;
  const T *from = (const T *)(src + head);
  const T *end = from + units;
  for (from += t.first; from + 3 * stride < end; from += 4 * stride, to += 4 * stride) {
    const T a = from[0];
    const T b = from[stride];
    const T c = from[2 * stride];
    const T d = from[3 * stride];
    to[0] = a;
    to[stride] = b;
    to[2 * stride] = c;
    to[3 * stride] = d;
  }
  Rest::rest(to, from, end, stride);
  const u64 middle = units * sizeof(T);
#pragma unroll 1
  for (u64 i = t.first; i < bytes - middle; i += stride) {
    const u64 at = i < head ? i : i + middle;
    dst[at] = src[at];
  }
}

// copy_bytes is a thread's part in a copy. Elements have two bytes or more.
template <typename Rest>
DEVICE void copy_bytes(char *dst, const char *src, u64 bytes, struct Threads t)
{
  const u64 apart = (u64)dst ^ (u64)src;  // where both are aligned alike, low bits are 0
  if (apart % 16 == 0) {
    copy_as<uint4, Rest>(dst, src, bytes, t);
  } else if (apart % 4 == 0) {
    copy_as<unsigned, Rest>(dst, src, bytes, t);
  } else {
    copy_as<unsigned short, Rest>(dst, src, bytes, t);
  }
}
