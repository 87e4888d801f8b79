/* The table of host kernels that a driver.Code carries. */
typedef struct ovgen_sim_kernel {
	const char *name;
	void *(*start)(const void *params, const unsigned grid[3], const unsigned block[3], unsigned long long seed);
	int (*resume)(void *launch, unsigned long long *addr, unsigned *value);
	void (*destroy)(void *launch);
} ovgen_sim_kernel;

const ovgen_sim_kernel *ovgen_testkernel_sim(void);

/* Launches that have been started and not destroyed. */
int ovgen_testkernel_live(void);
