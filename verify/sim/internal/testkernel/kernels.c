#include "kernels.h"

#include <stdlib.h>
#include <string.h>

static int live;

struct fill {
	unsigned *dst;
	unsigned long long words;
	unsigned value;
};

struct relay {
	unsigned *wait, *post;
	unsigned *dst, *src;
	unsigned long long words;
};

/* A launch keeps its parameters and how far it has come. */
struct launch {
	union {
		struct fill fill;
		struct relay relay;
	} p;
	unsigned blocks;
};

static struct launch *start(const void *params, size_t n, const unsigned grid[3]) {
	struct launch *l = calloc(1, sizeof *l);
	memcpy(&l->p, params, n);
	l->blocks = grid[0];
	__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return l;
}

static void destroy(void *launch) {
	__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	free(launch);
}

static void *fill_start(const void *params, const unsigned grid[3], const unsigned block[3], unsigned long long seed) {
	(void)block, (void)seed;
	return start(params, sizeof(struct fill), grid);
}

static int fill_resume(void *launch, unsigned long long *addr, unsigned *value) {
	struct launch *l = launch;
	(void)addr, (void)value;
	for (unsigned long long i = 0; i < l->p.fill.words; i++)
		l->p.fill.dst[i] = l->p.fill.value + l->blocks - 1;
	return 0;
}

static void *relay_start(const void *params, const unsigned grid[3], const unsigned block[3], unsigned long long seed) {
	(void)block, (void)seed;
	return start(params, sizeof(struct relay), grid);
}

static int relay_resume(void *launch, unsigned long long *addr, unsigned *value) {
	struct relay *r = &((struct launch *)launch)->p.relay;
	if (!r->wait)
		return 0;
	if (__atomic_load_n(r->wait, __ATOMIC_ACQUIRE) != 1) {
		*addr = (unsigned long long)r->wait;
		*value = 1;
		return 1;
	}
	__atomic_store_n(r->wait, 0, __ATOMIC_RELAXED);
	memcpy(r->dst, r->src, 4 * r->words);
	__atomic_store_n(r->post, 1, __ATOMIC_RELEASE);
	return 0;
}

static const ovgen_sim_kernel table[] = {
	{"fill", fill_start, fill_resume, destroy},
	{"relay", relay_start, relay_resume, destroy},
	{0, 0, 0, 0},
};

const ovgen_sim_kernel *ovgen_testkernel_sim(void) { return table; }

int ovgen_testkernel_live(void) { return __atomic_load_n(&live, __ATOMIC_RELAXED); }
