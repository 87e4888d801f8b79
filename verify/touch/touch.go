package touch

import (
	"fmt"
	"reflect"
	"unsafe"

	"ovgen/runtime/driver"
)

// Touch is a range of memory that a kernel uses.
type Touch struct {
	Kind  Kind
	At    driver.Ptr
	Bytes int64
	Value uint32      // for Wait and Post
	Type  driver.Type // of the elements of a kernel that computes with them
	// Rows counts ranges like this one, each Apart bytes behind the one before; 0: there is no other range.
	Rows  int
	Apart int64
	// Block is the block that does this, from 1, of a kernel whose blocks signal each for itself; 0: any block.
	Block int
	// Turn is the address of a word where launches use two halves in turn, and At is in the first half. A launch that
	// finds 1 in the word uses the range in the other half, Half bytes further. Each launch changes the word to its
	// other value.
	Turn driver.Ptr
	Half int64
	// Packets: Bytes counts the data that lie there as packets, each of which is its own flag; with Flag, the touch is
	// the first packet.
	Packets, Flag bool
}

// Each calls f for each range of a touch.
func (t *Touch) Each(f func(at driver.Ptr, bytes int64)) {
	for row := range max(t.Rows, 1) {
		f(t.At+driver.Ptr(int64(row)*t.Apart), t.Bytes)
	}
}

// Reads is the touch of a kernel that reads a number of bytes.
func Reads(at driver.Ptr, bytes int64) Touch { return Touch{Kind: Read, At: at, Bytes: bytes} }

// Writes is the touch of a kernel that writes a number of bytes.
func Writes(at driver.Ptr, bytes int64) Touch { return Touch{Kind: Write, At: at, Bytes: bytes} }

// Kind says how a kernel uses a range.
type Kind uint8

// Kinds of use.
const (
	Read Kind = iota
	Write
	Wait // waits until the word equals Value, with acquire at system scope
	Post // stores Value to the word, with release at system scope
)

// Func appends the touches of a launch with these parameters, in their order. A kernel that signals around its work
// lists the word in which its blocks count themselves, its posts and waits before the work, reads, writes, the count
// word again, resets of the awaited words, the step word, its posts after the work, its waits after these, their resets
// and the step word. A kernel whose blocks signal each for itself lists all this block by block, without the count
// word. A kernel whose parts run side by side lists its beginning, each part, and its end, as blocks 0, 1 and so on.
type Func func(params unsafe.Pointer, to []Touch) []Touch

// Describe describes a kernel that takes a P, for driver.Code. The simulator checks by the touches that the memory
// exists and that no other operation uses it at the same time.
func Describe[P any](name string, touches func(p *P) []Touch) driver.Kernel {
	return driver.Kernel{Name: name, Params: int(reflect.TypeFor[P]().Size()),
		Row: Func(func(at unsafe.Pointer, to []Touch) []Touch { return append(to, touches((*P)(at))...) })}
}

var registered = map[reflect.Type]func(row any) Func{}

// Register makes Of call f for kernels whose Row is an R. Call it in functions init.
func Register[R any](f func(row R) Func) {
	registered[reflect.TypeFor[R]()] = func(row any) Func { return f(row.(R)) }
}

// Of lists the touches of a kernel. It is nil for a kernel without a Row.
func Of(k *driver.Kernel) (Func, error) {
	if f, is := k.Row.(Func); is || k.Row == nil {
		return f, nil
	}
	of := registered[reflect.TypeOf(k.Row)]
	if of == nil {
		return nil, fmt.Errorf("nothing says what kernel %s reads and writes (import verify/tables, which knows "+
			"generated packages)", k.Name)
	}
	return of(k.Row), nil
}
