package group

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestArenaBytes holds the size that it computes against what an arena of it, and one
// that is a byte smaller, has room for.
func TestArenaBytes(t *testing.T) {
	fits := func(bytes, staging, words int64) bool {
		if bytes < leastArena {
			return false
		}
		a := &Arena{bytes: bytes}
		_, err := a.Stage(staging)
		_, full := a.Words(int(words))
		return err == nil && full == nil
	}
	for _, staging := range []int64{0, 1, 256, 1000, 16 << 20, 300<<20 + 3, 7 << 30} {
		for _, words := range []int64{0, 1, leastWords, leastWords + 1, 1 << 20, 5 << 20} {
			n := ArenaBytes(staging, words)
			if !fits(n, staging, words) {
				t.Errorf("%d bytes of staging and %d words do not fit an arena of %d", staging, words,
					n)
			}
			if n > leastArena && fits(n-256, staging, words) {
				t.Errorf("%d bytes of staging and %d words fit less than %d", staging, words, n)
			}
		}
	}
}

// TestManyPlans takes the words of a large model's plans, each with three semaphores for
// eight ranks: one for each of 4 operations in 126 layers and 16 sizes.
func TestManyPlans(t *testing.T) {
	const plans, words = 126 * 4 * 16, 3 * 8
	small, large := &Arena{bytes: leastArena}, &Arena{bytes: DefaultArena}
	var full *WordsError
	for range plans {
		if _, err := large.Words(words); err != nil {
			t.Fatal(err)
		}
		if _, err := small.Words(words); err != nil && !errors.As(err, &full) {
			t.Fatal(err)
		}
	}
	if full == nil {
		t.Fatal("the smallest arena has room for all")
	}
	next := &Arena{bytes: full.Arena, taken: small.taken}
	if _, err := next.Words(words); err != nil {
		t.Errorf("an arena as large as the error says: %v", err)
	}
	if _, err := small.Words(words); err == nil ||
		!strings.Contains(err.Error(),
			fmt.Sprintf("set Config.Arena to at least %d on all ranks", full.Arena)) {
		t.Errorf("%v", err)
	}
}
