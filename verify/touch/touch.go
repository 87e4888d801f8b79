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
	// Rows counts ranges like this one, each Apart bytes behind the one before; 0: there is no other.
	Rows  int
	Apart int64
	// Block that does this, from 1, of a kernel whose blocks signal each for itself; 0: any.
	Block int
	// Turn is set where launches use two halves in turn. At is in the first; the range is in the other one, Half bytes
	// further, in a launch that finds 1 in the word at Turn, which it leaves at the other value.
	Turn driver.Ptr
	Half int64
	// Packets: Bytes counts the data that lies there as packets, each its own flag; with Flag, the first of them.
	Packets, Flag bool
}

// Each is the ranges of a touch.
func (t *Touch) Each(f func(at driver.Ptr, bytes int64)) {
	for row := range max(t.Rows, 1) {
		f(t.At+driver.Ptr(int64(row)*t.Apart), t.Bytes)
	}
}

// Reads is the touch of a kernel that reads a number of bytes.
func Reads(at driver.Ptr, bytes int64) Touch { return Touch{Kind: Read, At: at, Bytes: bytes} }

// Writes is the touch of a kernel that writes a number of bytes.
func Writes(at driver.Ptr, bytes int64) Touch { return Touch{Kind: Write, At: at, Bytes: bytes} }

// Kind is how a kernel uses a range.
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
// word again, resets of the words awaited, the step word, its posts after the work, its waits after these, their resets
// and the step word. One whose blocks signal each for itself lists all this block by block, without the count word. One
// whose parts run side by side lists its beginning, each part, and its end, as blocks 0, 1 and so on.
type Func func(params unsafe.Pointer, to []Touch) []Touch

// Describe describes a kernel that takes a P, for driver.Code. The simulator checks by touches that the memory is there
// and that nothing else uses it at the same time.
func Describe[P any](name string, touches func(p *P) []Touch) driver.Kernel {
	return driver.Kernel{Name: name, Params: int(reflect.TypeFor[P]().Size()),
		Row: Func(func(at unsafe.Pointer, to []Touch) []Touch { return append(to, touches((*P)(at))...) })}
}

var registered = map[reflect.Type]func(row any) Func{}

// Register has Of ask f for the kernels whose Row is an R. It is for functions init.
func Register[R any](f func(row R) Func) {
	registered[reflect.TypeFor[R]()] = func(row any) Func { return f(row.(R)) }
}

// Of lists the touches of a kernel. It is nil for one without a Row.
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
