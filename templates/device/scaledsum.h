// Sums of codes: element i is the terms' elements i, each times the scale of its columns and rounded, added in fp32 in
// the order of the terms and rounded once. So every rank gets the same bits, and where scales are powers of two a
// product is exact.

// scaled_sum is a thread's part in a sum of n terms. A scale is of so many columns of its term, which are
// whole units of eight. It goes by units where all memory is aligned, and else by one.
template <typename Code, typename E, typename To = E, typename Finish = no_function>
DEVICE void scaled_sum(char *dst, const char *const *terms, const char *const *scales, unsigned n, u64 columns,
                       u64 count, struct Threads thread, Finish finish = Finish())
{
  const u64 stride = thread.stride;
  u64 apart = (u64)dst % 16;
  for (unsigned t = 0; t < n; t++) {
    apart |= (u64)terms[t] % sizeof(unit<Code>);
  }
  const u64 units = apart == 0 ? count / unit_elements : 0;
  const unsigned wide = (unsigned)columns / unit_elements;  // 32 bits hold the units of a launch
  for (u64 i = thread.first; i < units; i += at_once * stride) {
    float x[at_once][unit_elements];
    for (unsigned u = 0; u < at_once; u++) {
      for (unsigned k = 0; k < unit_elements; k++) {
        x[u][k] = -0.0f;  // whatever is added to -0 stays as it is
      }
    }
    for (unsigned t = 0; t < n; t += in_flight) {
      unit<Code> v[in_flight][at_once] = {};
      float scale[in_flight][at_once] = {};
      for (unsigned j = 0; j < in_flight; j++) {
        for (unsigned u = 0; u < at_once; u++) {
          if (t + j < n && i + u * stride < units) {
            v[j][u] = load_unit<Code>(terms[t + j], (i + u * stride) * unit_elements);
            scale[j][u] = ((const float *)scales[t + j])[(unsigned)(i + u * stride) / wide];
          }
        }
      }
      for (unsigned j = 0; j < in_flight; j++) {
        for (unsigned u = 0; u < at_once; u++) {
          for (unsigned k = 0; t + j < n && k < unit_elements; k++) {
            x[u][k] += f_mul(element(v[j][u], k), scale[j][u]);
          }
        }
      }
    }
    for (unsigned u = 0; u < at_once; u++) {
      const u64 at = (i + u * stride) * unit_elements;
      if (i + u * stride < units) {
        finish(x[u], at, unit_elements);
        unit<To> made = {};
        for (unsigned k = 0; k < unit_elements; k++) {
          set_element(made, k, To::narrow(x[u][k]));
        }
        store_unit(dst, at, made);
      }
    }
  }
  for (u64 i = units * unit_elements + thread.first; i < count; i += stride) {
    float x[1] = {-0.0f};
    for (unsigned t = 0; t < n; t++) {
      x[0] += f_mul(element_at<Code>(terms[t], i), ((const float *)scales[t])[i / columns]);
    }
    finish(x, i, 1);
    ((typename To::bits *)dst)[i] = (typename To::bits)To::narrow(x[0]);
  }
}
