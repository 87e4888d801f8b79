//go:build linux && cgo

#include "api.h"

#include <signal.h>

/* A library that takes over a signal without SA_ONSTACK breaks the Go program at
   its next Ctrl-C, so what was there before the library started is put back. */
static struct sigaction before[NSIG];
static char known[NSIG];

void ovgen_signals_save(void) {
  for (int s = 1; s < NSIG; s++) known[s] = sigaction(s, NULL, &before[s]) == 0;
}

void ovgen_signals_restore(void) {
  for (int s = 1; s < NSIG; s++) {
    struct sigaction now;
    if (!known[s] || sigaction(s, NULL, &now)) continue;
    if (now.sa_sigaction != before[s].sa_sigaction || now.sa_flags != before[s].sa_flags)
      sigaction(s, &before[s], NULL);
  }
}
