// How many ranks there are, blocks and threads of each launch, and launches of a rank that run at the same time.
#pragma once

enum { ranks = 3, blocks = 3, threads = 4, overlapping = 4 };
