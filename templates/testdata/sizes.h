// How many ranks there are, and blocks and threads of each launch.
#pragma once

enum { ranks = 3, blocks = 3, threads = 4 };
