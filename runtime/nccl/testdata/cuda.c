/* What NCCL's callers use of libcuda. */
#include <stdio.h>

#ifndef WITHOUT_CURRENT
int cuCtxSetCurrent(void *context) {
  printf("current %p\n", context);
  fflush(stdout);
  return context == (void *)0xbad ? 201 : 0;
}
#endif
