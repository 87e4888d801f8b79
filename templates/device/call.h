// Tensors of a call of the caller's own. Its kernel has its result as Out and what it reads as In, by elements: of E,
// the type that the plan is made for, as floats, or of int. On the host an access outside of a tensor ends the run with
// an error that names the call, the tensor and the byte.

typedef long long i64;

// Tensor is the memory of one.
struct Tensor { char *at; u64 bytes; };

#ifdef OVGEN_HOST

#define expf __builtin_expf
#define sqrtf __builtin_sqrtf
#define fmaxf __builtin_fmaxf
#define fminf __builtin_fminf
#define fabsf __builtin_fabsf
#define INFINITY __builtin_inff()

struct Span { struct Tensor of; const char *call, *name; };

#define SPAN(tensor, call, name) Span{tensor, call, name}

DEVICE char *inside(const struct Span &s, u64 first, u64 count, u64 size, int writes)
{
  if (first >= s.of.bytes / size || count > s.of.bytes / size - first) {
    engine->outside(s.call, s.name, writes, (i64)(first * size), s.of.bytes);
  }
  return s.of.at + first * size;
}

#else

#define INFINITY __uint_as_float(0x7f800000u)

struct Span { struct Tensor of; };

#define SPAN(tensor, call, name) Span{tensor}

DEVICE char *inside(const struct Span &s, u64 first, u64, u64 size, int) { return s.of.at + first * size; }

#endif

// Element is how an element lies in memory, and its value in a kernel.
template <typename E>
struct Element {
  typedef typename E::bits bits;
  typedef float value;
  DEVICE float widen(bits x) { return E::widen(x); }
  DEVICE bits narrow(float x) { return (bits)E::narrow(x); }
};

template <>
struct Element<int> {
  typedef int bits, value;
  DEVICE int widen(int x) { return x; }
  DEVICE int narrow(int x) { return x; }
};

// In is a tensor that a call reads.
template <typename E>
struct In {
  typedef typename Element<E>::bits bits;
  enum { unit = 16 / sizeof(bits) };  // elements of 16 bytes
  struct Span span;

  __device__ __forceinline__ In(struct Span s) : span(s) {}

  __device__ __forceinline__ u64 size() const { return span.of.bytes / sizeof(bits); }

  __device__ __forceinline__ typename Element<E>::value operator[](u64 i) const
  {
    return Element<E>::widen(*(const bits *)inside(span, i, 1, sizeof(bits), 0));
  }

  // load sets x to the unit elements from i on by one access; their address is a multiple of 16.
  __device__ __forceinline__ void load(u64 i, float *x) const
  {
    for (unsigned k = 0; k < unit; k++) {
      x[k] = -0.0f;  // whatever is added to -0 stays as it is
    }
    add<E>(x, *(const uint4 *)inside(span, i, unit, sizeof(bits), 0));
  }
};

// Out is the tensor that a call makes: each element of it, unless it lies where an operand does. It can't be read.
template <typename E>
struct Out {
  typedef typename Element<E>::bits bits;
  enum { unit = 16 / sizeof(bits) };
  struct Span span;

  struct Place {
    bits *at;
    __device__ __forceinline__ void operator=(typename Element<E>::value x) const { *at = Element<E>::narrow(x); }
  };

  __device__ __forceinline__ Out(struct Span s) : span(s) {}

  __device__ __forceinline__ u64 size() const { return span.of.bytes / sizeof(bits); }

  __device__ __forceinline__ struct Place operator[](u64 i) const
  {
    return {(bits *)inside(span, i, 1, sizeof(bits), 1)};
  }

  // store sets the unit elements from i on to x by one access; their address is a multiple of 16.
  __device__ __forceinline__ void store(u64 i, const float *x) const
  {
    *(uint4 *)inside(span, i, unit, sizeof(bits), 1) = rounded<E>(x);
  }
};
