// How many ranks there are where flags do not say it, blocks and threads of each launch, and launches of a rank that
// run at the same time.
#pragma once

#ifndef RANKS
#define RANKS 3
#endif

enum { ranks = RANKS, blocks = 3, threads = 4, overlapping = 4 };
