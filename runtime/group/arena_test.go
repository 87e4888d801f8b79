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

// TestKeep takes memory of single plans at the arena's end and gives it back, beside staging.
func TestKeep(t *testing.T) {
	a := &Arena{bytes: leastArena + 4096}
	room := a.bytes/align*align - stagingOf(a.bytes)
	keep := func(bytes int64) int64 {
		t.Helper()
		at, err := a.Keep(bytes)
		if err != nil {
			t.Fatal(err)
		}
		if at%align != 0 {
			t.Errorf("%d bytes are kept at %d", bytes, at)
		}
		return at
	}
	first := keep(1000)
	if end := a.bytes / align * align; first != end-1024 || a.lowest() != first {
		t.Errorf("1000 bytes are kept at %d of %d, the lowest at %d", first, end, a.lowest())
	}
	second, third := keep(256), keep(256)
	if a.lowest() != third {
		t.Errorf("the lowest is at %d, and memory is kept at %d, %d and %d", a.lowest(), first, second, third)
	}
	a.FreeKept(second)
	if again := keep(256); again != second {
		t.Errorf("what is free at %d is kept at %d", second, again)
	}
	var full *ArenaError
	if _, err := a.Stage(room - 1536 + 1); !errors.As(err, &full) {
		t.Errorf("staging overlaps what is kept: %v", err)
	}
	if err := a.Room(room-1536, 256, 0); !errors.As(err, &full) {
		t.Errorf("there is no room, and the error is %v", err)
	}
	if err := errors.Join(a.Room(room-1536, 0, 0), a.Room(0, room-1536, 0)); err != nil {
		t.Error(err)
	}
	if _, err := a.Stage(room - 1536); err != nil {
		t.Error(err)
	}
	if _, err := a.Keep(1); !errors.As(err, &full) || full.Need <= full.Have {
		t.Errorf("what is kept overlaps staging: %v", err)
	}
	a.FreeKept(third)
	if err := a.Room(0, 512, 0); !errors.As(err, &full) {
		t.Errorf("256 bytes are free behind the staging, and there is room for 512: %v", err)
	}
	if keep(200) != third {
		t.Error("what was given back is not taken again")
	}
	if (&Arena{bytes: 4096}).lowest() != 4096 {
		t.Error("something was kept in a new arena")
	}
}
