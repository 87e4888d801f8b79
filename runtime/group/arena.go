package group

import (
	"fmt"
	"slices"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// Layout of an arena in bytes from its base, the same on every rank: the step words of the pooled streams, CountWords
// count words of each stream, the words of semaphores, then staging. Memory that a single plan keeps is taken from the
// end downwards. The arena has a semaphore word for each bytesPerWord of its bytes, and at least leastWords words.
const (
	stepWords    = 256
	countAt      = StepBytes
	semaphoreAt  = countAt + CountWords*StepBytes
	leastWords   = 1 << 16
	bytesPerWord = 256
	align        = 256
	leastArena   = semaphoreAt + leastWords*4
)

// StepBytes is the part of an arena, from its base, that holds the step words of the pooled
// streams, which an abort reads.
const StepBytes = stepWords * 4

// wordsOf returns the number of semaphore words of an arena of the given bytes.
func wordsOf(arena int64) int64 { return max(leastWords, arena/bytesPerWord) }

// stagingOf returns the offset at which the staging of an arena of the given bytes begins.
func stagingOf(arena int64) int64 { return alignUp(semaphoreAt + 4*wordsOf(arena)) }

func alignUp(n int64) int64 { return (n + align - 1) / align * align }

// StagingBytes returns the bytes of staging that a buffer of the given bytes takes.
func StagingBytes(buffer int64) int64 { return alignUp(buffer) }

// ArenaBytes returns the least Config.Arena of a group whose plans stage at most the given bytes and hold the given
// number of semaphore words in total. See plan.Memory.
func ArenaBytes(staging, words int64) int64 {
	staging = alignUp(staging)
	n := leastArena + staging
	if words > leastWords {
		n = max(n, words*bytesPerWord)
	}
	for missing := staging; missing > 0; n += max(missing, 0) {
		missing = staging - (n - stagingOf(n)) // more bytes bring more words, which take a 64th of these bytes
	}
	return n
}

// Arena is one allocation of device memory on each rank, mapped by all of them and laid out equally: an offset means
// the same on every rank. Its methods allocate without talking to the peers, so ranks that make the same calls in the
// same order get the same offsets; plans compare them.
type Arena struct {
	bytes int64 // Config.Arena
	rank  int
	bases []driver.Ptr // by rank

	export *ipc.Export
	peers  [][]*ipc.Import

	mu     sync.Mutex
	taken  []span // words in use, sorted
	high   int64  // words ever used
	staged int64  // end of the staging of all plans so far
	kept   []kept // memory of one plan, the last of the arena first
	low    int64  // lowest offset of memory that was ever kept; 0: none was
}

// kept is memory of one plan, in bytes from the base.
type kept struct{ from, to int64 }

type span struct{ at, words int64 }

// Base is where rank's arena is mapped on this device.
func (a *Arena) Base(rank int) driver.Ptr { return a.bases[rank] }

// Bytes is the size of the arena.
func (a *Arena) Bytes() int64 { return a.bytes }

// Words takes n 32-bit words, zero at first and shared with no other plan, and
// returns their offset from the base. The abort sets them all to 1.
func (a *Arena) Words(n int) (offset int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var at int64
	i := 0
	for ; i < len(a.taken); i++ {
		if a.taken[i].at-at >= int64(n) {
			break
		}
		at = a.taken[i].at + a.taken[i].words
	}
	if have := wordsOf(a.bytes); at+int64(n) > have {
		return 0, &WordsError{Want: int64(n), Have: have, Arena: ArenaBytes(0, at+int64(n))}
	}
	a.taken = slices.Insert(a.taken, i, span{at, int64(n)})
	a.high = max(a.high, at+int64(n))
	return semaphoreAt + at*4, nil
}

// FreeWords gives back the words that Words returned at offset. The words must be zero on
// all ranks, as they are between runs.
func (a *Arena) FreeWords(offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken = slices.DeleteFunc(a.taken, func(s span) bool { return semaphoreAt+s.at*4 == offset })
}

// Keep takes memory from the arena's end, behind the staging of the plans so far, and returns its offset from the base,
// a multiple of 256. No other plan has this memory until FreeKept. It may hold any data; an abort sets all words to 1.
func (a *Arena) Keep(bytes int64) (offset int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bytes = alignUp(bytes)
	end, i := a.bytes/align*align, 0
	for ; i < len(a.kept) && end-bytes < a.kept[i].to; i++ {
		end = a.kept[i].from
	}
	if least := max(a.staged, stagingOf(a.bytes)); end-bytes < least {
		return 0, &ArenaError{Need: ArenaBytes(least-stagingOf(a.bytes)+a.bytes-end+bytes, 0), Have: a.bytes}
	}
	a.kept = slices.Insert(a.kept, i, kept{end - bytes, end})
	if a.low == 0 || end-bytes < a.low {
		a.low = end - bytes
	}
	return end - bytes, nil
}

// FreeKept gives back the memory that Keep returned at offset.
func (a *Arena) FreeKept(offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = slices.DeleteFunc(a.kept, func(k kept) bool { return k.from == offset })
}

// Kept is the offset where the memory that plans keep begins, or the arena's end: everything before it may be staging.
func (a *Arena) Kept() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ends()
}

func (a *Arena) ends() int64 {
	if n := len(a.kept); n > 0 {
		return a.kept[n-1].from
	}
	return a.bytes
}

// Stage lays out buffers of these sizes in the staging region and returns their offsets from the base, each a multiple
// of 256. All plans of a group stage from the same start: their runs follow one another, and no rank touches a peer's
// staging outside of that peer's own run.
func (a *Arena) Stage(sizes ...int64) (offsets []int64, err error) {
	at := stagingOf(a.bytes)
	start := at
	for _, n := range sizes {
		if n < 0 {
			return nil, fmt.Errorf("lay out staging: a buffer of %d bytes", n)
		}
		offsets = append(offsets, at)
		at += alignUp(n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if end := a.ends(); at > end {
		return nil, &ArenaError{Need: ArenaBytes(at-start+a.bytes-end, 0), Have: a.bytes}
	}
	a.staged = max(a.staged, at)
	return offsets, nil
}

// Room returns nil if the arena has room for a plan, else an *ArenaError or a *WordsError. Its arguments are the plan's
// staging in bytes, as StagingBytes counts each buffer, the bytes that the plan keeps in one piece, and its words.
func (a *Arena) Room(staging, keeps, words int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	start, end := stagingOf(a.bytes), a.ends()
	need := start + staging + keeps
	if keeps > 0 {
		need = max(need, a.staged+keeps)
	}
	if need > end {
		return &ArenaError{Need: ArenaBytes(need-start+a.bytes-end, 0), Have: a.bytes}
	}
	taken := int64(0)
	for _, s := range a.taken {
		taken += s.words
	}
	if have := wordsOf(a.bytes); taken+words > have {
		return &WordsError{Want: words, Have: have, Arena: ArenaBytes(0, taken+words)}
	}
	return nil
}

// ArenaError reports that a plan's staging does not fit the arena.
type ArenaError struct {
	Need, Have int64 // bytes of the whole arena
}

// Error states how much is missing and the setting to raise.
func (e *ArenaError) Error() string {
	return fmt.Sprintf("lay out staging: the arena has %d bytes, %d are missing "+
		"(set Config.Arena to at least %d on all ranks)", e.Have, e.Need-e.Have, e.Need)
}

// WordsError reports that the arena has no room for a plan's semaphores.
type WordsError struct {
	Want, Have int64 // words of one plan's request, words of the arena
	Arena      int64 // bytes of an arena with room for them
}

// Error names the setting to raise.
func (e *WordsError) Error() string {
	return fmt.Sprintf("allocate %d semaphore words: the arena has %d, a word for each %d bytes, "+
		"and no such stretch is free"+
		" (set Config.Arena to at least %d on all ranks, or close plans that are not used any more)",
		e.Want, e.Have, bytesPerWord, e.Arena)
}

// lowest is the lowest offset of memory that was ever kept, or the arena's end.
func (a *Arena) lowest() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.low == 0 {
		return a.bytes
	}
	return a.low
}

// used is the number of semaphore words that may hold or await a value.
func (a *Arena) used() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.high
}
