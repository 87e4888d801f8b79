package touch

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
)

type pair struct {
	At    driver.Ptr
	Count int
}

type row int

// TestOf: the touches of a kernel come from its Func, or from the function that is registered for the type of its Row;
// a Row that nobody knows is an error, and a kernel without a Row has no touches.
func TestOf(t *testing.T) {
	Register(func(r row) Func {
		return func(_ unsafe.Pointer, to []Touch) []Touch { return append(to, Reads(0, int64(r))) }
	})
	own := Describe("own", func(p *pair) []Touch { return []Touch{Reads(p.At, 8), Writes(p.At, int64(p.Count))} })
	if own.Params != 16 {
		t.Errorf("its struct has %d bytes, want 16", own.Params)
	}
	for _, x := range []struct {
		kernel driver.Kernel
		want   []Touch
		err    string
	}{
		{kernel: own, want: []Touch{{}, {Kind: Read, At: 64, Bytes: 8}, {Kind: Write, At: 64, Bytes: 3}}},
		{kernel: driver.Kernel{Row: row(7)}, want: []Touch{{}, {Kind: Read, Bytes: 7}}},
		{kernel: driver.Kernel{}},
		{kernel: driver.Kernel{Name: "other", Row: 7}, err: "kernel other reads and writes (import verify/tables"},
	} {
		f, err := Of(&x.kernel)
		if x.err != "" {
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("%v, want %q", err, x.err)
			}
			continue
		}
		var got []Touch
		if f != nil {
			got = f(unsafe.Pointer(&pair{64, 3}), make([]Touch, 1))
		}
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%+v, %v, want %+v", got, err, x.want)
		}
	}
}

// TestEach: a touch of rows is a range for each.
func TestEach(t *testing.T) {
	x := Touch{At: 100, Bytes: 4, Rows: 3, Apart: 10}
	var got []driver.Ptr
	x.Each(func(at driver.Ptr, bytes int64) { got = append(got, at, driver.Ptr(bytes)) })
	if want := []driver.Ptr{100, 4, 110, 4, 120, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
