// Groups of columns that go together: a row, or a head. A group is in parts: part l of the units l, l + parts and so
// on, whose elements are added up in order. The parts are added by halves: the second half of them to the first, of
// these the second half to the first, and so on. So the width of a group alone decides the order in which its elements
// are added. Some threads of a block, its lanes, have a group: lane l has part l, or parts l and l + lanes.

#ifndef OVGEN_HOST
enum { warp = 32 };  // threads that run together
#endif

enum { most_parts = 512 };

// parts_of is how many a group has: a power of 2, for a unit each where they suffice.
DEVICE unsigned parts_of(u64 width)
{
  const u64 units = (width + unit_elements - 1) / unit_elements;
  unsigned below = (unsigned)(units < most_parts ? units : (u64)most_parts);
  below -= below > 0;  // a launch of nothing has no columns
  for (unsigned bits = 1; bits < 9; bits *= 2) {
    below |= below >> bits;  // all bits under the highest
  }
  return below + 1;
}

// lanes_of is how many lanes share so many parts, each of them one or two.
DEVICE unsigned lanes_of(unsigned parts, unsigned each) { return each > 1 && parts > 1 ? parts / each : parts; }

// of_parts joins the parts of a lane.
template <float (*join)(float, float), unsigned each>
DEVICE float of_parts(const float (&mine)[each], unsigned parts)
{
  return each > 1 && parts > 1 ? join(mine[0], mine[each - 1]) : mine[0];
}

// sync_lanes holds a lane until all of its group are there.
DEVICE void sync_lanes(unsigned lanes)
{
  if (lanes > warp) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

// of_lanes joins a number of each lane of a group.
template <float (*join)(float, float)>
DEVICE float of_lanes(float *numbers, float mine, unsigned lanes)
{
  float *const group = numbers + threadIdx.x / lanes * lanes;
  const unsigned lane = threadIdx.x % lanes;
  sync_lanes(lanes);  // all have read the number before
  group[lane] = mine;
  sync_lanes(lanes);
  if (lanes > warp && lane < warp) {  // these are warps apart: a thread joins its own ones alone
    float x[most_parts / warp];
    for (unsigned i = 0; i < most_parts / warp; i++) {
      x[i] = i < lanes / warp ? group[i * warp + lane] : 0.0f;
    }
    for (unsigned half = most_parts / warp / 2; half > 0; half /= 2) {
      for (unsigned i = 0; i < half; i++) {
        x[i] = half < lanes / warp ? join(x[i], x[i + half]) : x[i];
      }
    }
    group[lane] = x[0];
  }
  for (unsigned half = (lanes < warp ? lanes : (unsigned)warp) / 2; half > 0; half /= 2) {
    __syncwarp();
    if (lane < half) {
      group[lane] = join(group[lane], group[lane + half]);
    }
  }
  sync_lanes(lanes);
  return group[0];
}

// each_unit calls f(u, n) for each unit n of a lane: of its part u % each. The first ones, u < kept, may stay in
// registers.
template <unsigned kept, unsigned each, typename F>
DEVICE void each_unit(unsigned lane, unsigned lanes, unsigned units, F f)
{
#pragma unroll
  for (unsigned u = 0; u < kept; u++) {
    if (lane + u * lanes < units) {
      f(u, lane + u * lanes);
    }
  }
  for (unsigned n = lane + kept * lanes; n < units; n += each * lanes) {
#pragma unroll
    for (unsigned u = 0; u < each; u++) {
      if (u == 0 || n + u * lanes < units) {
        f(kept + u, n + u * lanes);
      }
    }
  }
}

// each_element calls f(k, j) for each element k of unit n, which is in column j. Whole says that a group is whole
// units: a check of each element takes as long as most functions of it.
template <typename F>
DEVICE void each_element(bool whole, unsigned n, unsigned width, F f)
{
  const unsigned first = n * unit_elements;
  if (whole) {
    for (unsigned k = 0; k < unit_elements; k++) {
      f(k, first + k);
    }
  } else {
    for (unsigned k = 0; k < unit_elements; k++) {
      if (first + k < width) {
        f(k, first + k);
      }
    }
  }
}

// turned is the column that goes with column j of a head: half a head on, or back.
DEVICE unsigned turned(unsigned j, unsigned width) { return j < width / 2 ? j + width / 2 : j - width / 2; }

// unit_at is unit n of a group that is width columns wide. Column j lies at(j). Together says that the columns of a
// unit lie side by side, and are aligned.
template <typename E, typename At>
DEVICE unit<E> unit_at(const char *from, bool together, unsigned n, unsigned width, At at)
{
  const unsigned j = n * unit_elements;
  if (together) {
    return load_unit<E>(from, at(j));
  }
  unit<E> v = {};
#pragma unroll 1
  for (unsigned k = 0; k < unit_elements; k++) {
    shift_in(v, j + k < width ? ((const typename E::bits *)from)[at(j + k)] : 0);
  }
  return v;
}

// store_at stores unit n of a group whose first element lies at a place.
template <typename E>
DEVICE void store_at(char *to, bool together, u64 at, unsigned n, unsigned width, unit<E> v)
{
  const unsigned j = n * unit_elements;
  if (together) {
    store_unit(to, at + j, v);
    return;
  }
#pragma unroll 1
  for (unsigned k = 0; k < unit_elements && j + k < width; k++) {
    ((typename E::bits *)to)[at + j + k] = shift_out(v);
  }
}
