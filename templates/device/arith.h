// Operations of fp32 for the functions of schedules, each rounded once to nearest. A GPU has instructions for these
// that no compiler contracts to one with a single rounding; the file that compiles them for a host forbids it.

#ifndef OVGEN_HOST

DEVICE float hyperbolic_tangent(float x) { return tanhf(x); }
DEVICE float error_function(float x) { return erff(x); }
DEVICE float natural_logarithm(float x) { return logf(x); }

#endif

DEVICE float f_add(float a, float b) { return __fadd_rn(a, b); }
DEVICE float f_sub(float a, float b) { return __fsub_rn(a, b); }
DEVICE float f_mul(float a, float b) { return __fmul_rn(a, b); }
DEVICE float f_div(float a, float b) { return __fdiv_rn(a, b); }
DEVICE float f_root(float a) { return __fsqrt_rn(a); }
DEVICE float f_greatest(float a, float b) { return a > b ? a : b; }
DEVICE float f_least(float a, float b) { return a < b ? a : b; }

DEVICE float f_abs(float a) { return __uint_as_float(__float_as_uint(a) & 0x7fffffffu); }

// These are within some units of the last place.
DEVICE float f_exp(float a) { return exponential(a); }
DEVICE float f_tanh(float a) { return hyperbolic_tangent(a); }
DEVICE float f_erf(float a) { return error_function(a); }
DEVICE float f_log(float a) { return natural_logarithm(a); }
