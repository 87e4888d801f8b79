// Words that ranks signal each other with. A word is 0 or 1, has one rank that sets it and one
// that awaits it.

// await_word holds the thread until the word is 1.
DEVICE void await_word(const unsigned *word)
{
  while (load_acquire(word) != 1u) {
  }
}
