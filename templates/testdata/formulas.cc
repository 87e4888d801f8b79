// Runs jobs, each a launch of a kernel on buffers of its own, and prints the buffers after it.
#include "drive.h"

#include <string>

static u64 number()
{
  u64 x = 0;
  if (fread(&x, sizeof x, 1, stdin) != 1) {
    exit(2);
  }
  return x;
}

static std::string text()
{
  std::string s(number(), 0);
  if (s.size() > 0 && fread(&s[0], s.size(), 1, stdin) != 1) {
    exit(2);
  }
  return s;
}

int main()
{
  for (u64 jobs = number(); jobs > 0; jobs--) {
    const std::string name = text();
    const unsigned blocks = (unsigned)number(), threads = (unsigned)number();
    std::vector<u64> of(number()), params(of.size());
    for (size_t i = 0; i < of.size(); i++) {
      of[i] = number();
      params[i] = number();
    }
    std::vector<std::vector<unsigned char>> buffers(number());
    for (auto &b : buffers) {
      const std::string bytes = text();
      b.assign(bytes.begin(), bytes.end());
    }
    for (size_t i = 0; i < of.size(); i++) {
      if (of[i] > 0) {  // an offset in a buffer
        params[i] += (u64)buffers[of[i] - 1].data();
      }
    }
    const unsigned left = (unsigned)run(name.c_str(), params.data(), blocks, threads);
    fwrite(&left, sizeof left, 1, stdout);
    for (auto &b : buffers) {
      fwrite(b.data(), b.size(), 1, stdout);
    }
  }
  return 0;
}
