//go:build cgo

package capi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/plan"
	_ "ovgen/verify/sim"
)

func TestDo(t *testing.T) {
	for _, c := range []struct {
		name string
		call func() error
		want Status
		text string
	}{
		{"nothing", func() error { return nil }, OK, ""},
		{"an error", func() error { return errors.New("no") }, Failed, "no"},
		{"an abort", func() error { return fmt.Errorf("run: %w", &group.AbortError{Cause: errors.New("why")}) },
			Dead, "run: "},
		{"a closed group", func() error { return fmt.Errorf("run: %w", group.ErrClosed) }, Dead, "closed"},
		{"a panic", func() error { panic("oops") }, Failed, "internal error: oops\ngoroutine"},
		{"a nil pointer", func() error { return errors.New((*Config)(nil).Job) }, Failed, "nil pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := Do(c.call)
			if status != c.want || !strings.Contains(text, c.text) || (text == "") != (status == OK) {
				t.Errorf("status %d, text %q, want %d and %q", status, text, c.want, c.text)
			}
		})
	}
}

// nowhere is a process that no launcher has started.
func nowhere(t *testing.T) {
	for _, name := range []string{"OVGEN_RANK", "OVGEN_SIZE", "OVGEN_LOCAL_RANK", "OVGEN_JOB", "OVGEN_DRIVER",
		"RANK", "WORLD_SIZE", "LOCAL_RANK",
		"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"} {
		t.Setenv(name, "")
	}
}

func TestResolve(t *testing.T) {
	two := 2
	minus := -1
	torchrun := map[string]string{"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
		"MASTER_PORT": "29500"}
	for _, c := range []struct {
		name string
		env  map[string]string
		in   Config
		want string // rank, size, devices, backend; or the error
	}{
		{"explicit", nil, Config{Rank: 1, Size: 2, Job: "j"}, "1 2 [] cuda"},
		{"a device", nil, Config{Rank: 1, Size: 2, Job: "j", Device: &two, Backend: "sim"}, "1 2 [2 2] sim"},
		{"torchrun", torchrun, Config{}, "1 2 [1 1] cuda"},
		{"torchrun with a device", torchrun, Config{Device: &two}, "1 2 [2 2] cuda"},
		{"driver by variable", map[string]string{"OVGEN_DRIVER": "sim"}, Config{Size: 1}, "0 1 [] sim"},
		{"nothing", nil, Config{}, "no OVGEN_RANK"},
		{"a rank too many", nil, Config{Rank: 2, Size: 2}, "rank 2 of 2"},
		{"no size", nil, Config{Size: -1}, "rank 0 of -1"},
		{"no device", nil, Config{Size: 1, Device: &minus}, "device -1"},
		{"no time", nil, Config{Size: 1, Timeout: -5}, "timeout of -5 ms"},
		{"no time for runs", nil, Config{Size: 1, RunTimeout: -6}, "timeout of -6 ms"},
		{"time without end", nil, Config{Size: 1, Timeout: 1 << 62}, "timeout of 4611686018427387904 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			nowhere(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			g, err := c.in.resolve()
			got := fmt.Sprintf("%d %d %v %s", g.Rank, g.Size, g.Devices, g.Backend)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHandles(t *testing.T) {
	for _, call := range map[string]func(uintptr) error{
		"err": Err, "abort": func(h uintptr) error { return Abort(h, "") },
		"close":       func(h uintptr) error { return Close(h, 0) },
		"place":       func(h uintptr) error { _, _, err := Place(h); return err },
		"enqueue":     func(h uintptr) error { return Enqueue(h, 0) },
		"replay":      func(h uintptr) error { return Replay(h, 0) },
		"run":         func(h uintptr) error { return Run(h, 0) },
		"plan close":  func(h uintptr) error { return ClosePlan(h, 0) },
		"synchronize": func(h uintptr) error { return Synchronize(h, 0) },
		"watch":       func(h uintptr) error { return Watch(h, 0, 0) },
		"peers":       func(h uintptr) error { _, _, _, err := Peers(h, 0, 1, 0, 0); return err },
		"peers close": func(h uintptr) error { return ClosePeers(h, 0) },
		"symmetric":   func(h uintptr) error { _, err := Symmetric(h, 1); return err },
		"alloc":       func(h uintptr) error { _, err := Alloc(h, 1); return err },
		"copy":        func(h uintptr) error { return Copy(h, 0, 0, 1, 0) },
		"call":        func(h uintptr) error { return Call(h, func(*plan.Plan) {}) },
	} {
		for _, h := range []uintptr{0, 1 << 40} {
			if err := call(h); !errors.As(err, new(*HandleError)) {
				t.Errorf("handle %d: error %v, want a HandleError", h, err)
			}
		}
	}
}

// A group of one rank: its memory, and its end under the hands of several threads.
func TestGroup(t *testing.T) {
	nowhere(t)
	h, err := Join(Config{Size: 1, Job: fmt.Sprintf("capi-%d", os.Getpid()), Backend: "sim", Arena: 4 << 20,
		Symmetric: 4096}, 20000)
	if err != nil {
		t.Fatal(err)
	}
	symmetric(t, h)
	p, err := Alloc(h, 8)
	if err != nil {
		t.Fatal(err)
	}
	in, out := []byte("01234567"), make([]byte, 8)
	if err := errors.Join(CopyTo(h, p, unsafe.Pointer(&in[0]), 8), CopyFrom(h, unsafe.Pointer(&out[0]), p, 8),
		CopyTo(h, p, nil, 0)); err != nil || !slices.Equal(in, out) {
		t.Errorf("copied %q, %v", out, err)
	}
	if err := CopyTo(h, p, nil, 8); !errors.Is(err, ErrNull) {
		t.Errorf("copy from NULL: %v", err)
	}
	if err := CopyFrom(h, unsafe.Pointer(&out[0]), p, -1); err == nil {
		t.Error("copied -1 bytes")
	}
	if err := Watch(h, 0, -1); err == nil {
		t.Error("watched for -1 ms")
	}
	peers(t, h, p)
	if err := errors.Join(Synchronize(h, 0), Watch(h, 0, 0), Free(h, p), Free(h, 0), Err(h)); err != nil {
		t.Error(err)
	}
	if _, err := New(h, 0,
		func(context.Context, *group.Group, int) (*none, error) { return nil, errors.New("no plan") },
		0); err == nil {
		t.Error("a plan was made")
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for Err(h) == nil {
			}
		})
		wg.Go(func() {
			if err := Close(h, 20000); err != nil && !errors.As(err, new(*HandleError)) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// symmetric takes symmetric memory of a group, twice, and too much.
func symmetric(t *testing.T, h uintptr) {
	t.Helper()
	first, err := Symmetric(h, 8)
	second, err2 := Symmetric(h, 8)
	if _, err3 := Symmetric(h, 4096); err != nil || err2 != nil || first == 0 || second <= first ||
		!errors.As(err3, new(*group.SymmetricError)) {
		t.Errorf("symmetric memory at %#x and %#x: %v, %v; too much: %v", first, second, err, err2, err3)
	}
}

// peers shares 8 bytes of a group of one rank, which nobody may free until that is closed.
func peers(t *testing.T, h uintptr, p uint64) {
	t.Helper()
	shared, buffers, words, err := Peers(h, p, 8, 2, 20000)
	if err != nil || words != buffers+8 {
		t.Errorf("tables at %#x and %#x, %v", buffers, words, err)
	}
	var own [8]byte
	if err := CopyFrom(h, unsafe.Pointer(&own[0]), buffers, 8); err != nil || binary.NativeEndian.Uint64(own[:]) != p {
		t.Errorf("the own buffer is at %v, want %#x; %v", own, p, err)
	}
	if err := Free(h, p); err == nil {
		t.Error("freed what is shared")
	}
	if err := ClosePeers(shared, 0); err != nil {
		t.Error(err)
	}
	if err := ClosePeers(shared, 0); !errors.As(err, new(*HandleError)) {
		t.Errorf("closed twice: %v", err)
	}
	if _, _, _, err := Peers(h, p, 9, 2, 0); err == nil {
		t.Error("shared more than there is")
	}
}

// none is no plan.
type none struct{ *made }

func TestArguments(t *testing.T) {
	for element, want := range map[int]driver.Type{
		-1: 0, 0: 0, 1: driver.BF16, 3: driver.FP32, len(driver.Types()) + 1: 0, 257: 0} {
		if got := Type(element); got != want {
			t.Errorf("element %d is %v, want %v", element, got, want)
		}
	}
	list := []int64{3, 0, 5}
	if got, err := Counts(unsafe.Pointer(&list[0]), 3); !slices.Equal(got, []int{3, 0, 5}) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, n := range []int64{store.MaxRanks + 1, 1 << 40} {
		want := fmt.Sprintf("read the counts: there are %d of them, and no group has more than 128 ranks", n)
		if _, err := Counts(unsafe.Pointer(&list[0]), n); err == nil || err.Error() != want {
			t.Errorf("%d counts: %v, want %s", n, err, want)
		}
	}
	none := []struct {
		first unsafe.Pointer
		n     int64
	}{{nil, 3}, {unsafe.Pointer(&list[0]), 0}, {unsafe.Pointer(&list[0]), -1}}
	for _, x := range none {
		if got, err := Counts(x.first, x.n); got != nil || err != nil {
			t.Errorf("no list is %v, %v", got, err)
		}
	}
}

// TestCalled: a function of C's gets a stream, a range and a list as struct ovgen_range has them, and its number is in
// the error.
func TestCalled(t *testing.T) {
	type ofC struct {
		at     uint64
		bytes  int64
		scales uint64
		rows   int64
	}
	from := []plan.Range{{At: 1, Bytes: 2}, {At: 3, Bytes: 4}}
	result := plan.Range{At: 6, Bytes: 7, Scales: 8, Rows: 9}
	f := Called("Own", func(stream uintptr, to, list unsafe.Pointer, count int) int {
		if got := *(*ofC)(to); stream != 5 || got != (ofC{6, 7, 8, 9}) || count != 2 {
			t.Errorf("stream %d, to %v, %d operands", stream, got, count)
		}
		if got := unsafe.Slice((*ofC)(list), count); got[0] != (ofC{1, 2, 0, 0}) || got[1] != (ofC{3, 4, 0, 0}) {
			t.Errorf("operands %v", got)
		}
		return 8
	})
	if err := f(5, result, from); err == nil || err.Error() != "the function of Own returned 8" {
		t.Errorf("error %v", err)
	}
}
