// One rank of an all-gather with a matrix product: C = A B. This rank has M/D rows of A, and
// gets all of C. The operands are small integers, so the result is known to the
// bit. Started as every rank by a launcher, or by hand with OVGEN_RANK, OVGEN_SIZE and
// OVGEN_JOB:
//
//     mpirun -n 2 ./main [M K N]
#include <stdio.h>
#include <stdlib.h>

#include "ovgen.h"

static char *err; // the last call's error, if it failed

// must ends the program with a call's error. Its peers notice, and their calls fail.
static void must(int status) {
  if (status == OVGEN_OK) return;
  fprintf(stderr, "%s\n", err);
  ovgen_free(err);
  exit(1);
}

// The operands: small integers, so that fp32 adds them without rounding.
static float a_at(int64_t m, int64_t k) { return (float)((m * 7 + k * 3) % 5 - 2); }
static float b_at(int64_t k, int64_t n) { return (float)((k * 5 + n) % 7 - 3); }

static float *host(int64_t elements) {
  float *p = calloc((size_t)elements, sizeof *p);
  if (p) return p;
  fprintf(stderr, "out of memory\n");
  exit(1);
}

// wrong counts the wrong elements of C.
static int64_t wrong(ovgen_group g, ovgen_ptr c, const struct ovgen_allgathermatmul_shape *s) {
  float *have = host(s->M * s->N);
  must(ovgen_copy_from(g, have, c, s->M * s->N * (int64_t)sizeof *have, &err));
  int64_t bad = 0;
  for (int64_t m = 0; m < s->M; m++) {
    for (int64_t n = 0; n < s->N; n++) {
      float want = 0;
      for (int64_t k = 0; k < s->K; k++) want += a_at(m, k) * b_at(k, n);
      bad += have[m * s->N + n] != want;
    }
  }
  free(have);
  return bad;
}

int main(int argc, char **argv) {
  ovgen_group g;
  int rank, size;
  must(ovgen_join(NULL, 0, &g, &err));
  must(ovgen_place(g, &rank, &size, &err));

  struct ovgen_allgathermatmul_shape s = {.M = 64, .K = 32, .N = 48, .element = OVGEN_FP32};
  if (argc == 4) s.M = atoll(argv[1]), s.K = atoll(argv[2]), s.N = atoll(argv[3]);
  ovgen_plan p;
  must(ovgen_allgathermatmul_new(g, &s, 0, &p, &err));

  int64_t rows = s.M / size, bytes = sizeof(float);
  float *a = host(rows * s.K), *b = host(s.K * s.N), *nothing = host(s.M * s.N);
  for (int64_t i = 0; i < rows * s.K; i++) a[i] = a_at(rank * rows + i / s.K, i % s.K);
  for (int64_t i = 0; i < s.K * s.N; i++) b[i] = b_at(i / s.N, i % s.N);

  struct ovgen_allgathermatmul_buffers x;
  must(ovgen_alloc(g, rows * s.K * bytes, &x.A, &err));
  must(ovgen_alloc(g, s.K * s.N * bytes, &x.B, &err));
  must(ovgen_alloc(g, s.M * s.N * bytes, &x.C, &err));
  must(ovgen_copy_to(g, x.A, a, rows * s.K * bytes, &err));
  must(ovgen_copy_to(g, x.B, b, s.K * s.N * bytes, &err));
  must(ovgen_allgathermatmul_bind(p, &x, 0, &err));

  // After what a stream holds, here the legacy default one, without waiting on the host.
  must(ovgen_copy_to(g, x.C, nothing, s.M * s.N * bytes, &err));
  for (int i = 0; i < 3; i++) must(ovgen_enqueue(p, NULL, &err));
  must(ovgen_synchronize(g, NULL, &err));
  int64_t bad = wrong(g, x.C, &s);

  // Alone, with a limit of a minute.
  must(ovgen_copy_to(g, x.C, nothing, s.M * s.N * bytes, &err));
  must(ovgen_run(p, 60000, &err));
  bad += wrong(g, x.C, &s);

  must(ovgen_plan_close(p, 0, &err)); // the peers read A until here
  must(ovgen_free_device(g, x.A, &err));
  must(ovgen_free_device(g, x.B, &err));
  must(ovgen_free_device(g, x.C, &err));
  must(ovgen_close(g, 0, &err));
  free(a), free(b), free(nothing);
  printf("rank %d of %d: %lld wrong of %lld\n", rank, size, (long long)bad, (long long)(2 * s.M * s.N));
  return bad != 0;
}
