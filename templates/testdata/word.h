// A word that ranks signal each other with, as the kernels have its address, and what
// only a host keeps of it.
#pragma once

struct alignas(16) Word {
  unsigned value;
  unsigned release;  // by which its writer lets others see what it did
  unsigned resets;
  unsigned char turns[52];  // one is written with each reset, and read with the post after it
};
