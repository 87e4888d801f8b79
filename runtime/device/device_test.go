package device

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

func onDevice(t *testing.T, f func(d driver.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(sim.Config{Devices: 1})
		defer w.Close()
		d, err := w.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		f(d)
	})
}

// TestTogether copies through a captured graph after an event of another stream.
func TestTogether(t *testing.T) {
	onDevice(t, func(d driver.Driver) {
		from, to := must(Alloc(d, 8)), must(Alloc(d, 8))
		first, second := must(NewStream(d, High)), must(NewStream(d, Low))
		done := must(NewEvent(d, false))
		graph := must(Capture(d, second.Handle(), func() error { return second.Copy(to.Ptr(), from.Ptr(), 8) }))
		other := must(Alloc(d, 8))
		got := make([]byte, 8)
		if err := errors.Join(other.Set([]byte("contents")), first.Copy(from.Ptr(), other.Ptr(), 8), done.Record(first),
			second.Wait(done), graph.Launch(second.Handle()), second.Synchronize(), to.Get(got)); err != nil {
			t.Fatal(err)
		}
		if string(got) != "contents" {
			t.Errorf("got %q", got)
		}
		for range 2 {
			for _, c := range []io.Closer{graph, done, first, second, from, to, other} {
				if err := c.Close(); err != nil {
					t.Errorf("close %T: %v", c, err)
				}
			}
		}
	})
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func TestBufferBounds(t *testing.T) {
	onDevice(t, func(d driver.Driver) {
		b := must(Alloc(d, 8))
		defer b.Close()
		if b.Set(make([]byte, 9)) == nil || b.Get(make([]byte, 9)) == nil {
			t.Error("9 bytes fit 8")
		}
		if _, err := Alloc(d, 0); err == nil || !strings.HasPrefix(err.Error(), "allocate 0 bytes") {
			t.Error(err)
		}
	})
}

// TestSince takes the time of a copy.
func TestSince(t *testing.T) {
	onDevice(t, func(d driver.Driver) {
		s, a, b, m := must(NewStream(d, Normal)), must(NewEvent(d, true)), must(NewEvent(d, true)), must(Alloc(d, 64))
		if err := errors.Join(a.Record(s), s.Copy(m.Ptr()+32, m.Ptr(), 32), b.Record(s), b.Synchronize()); err != nil {
			t.Fatal(err)
		}
		if ms, err := b.Since(a); err != nil || ms <= 0 {
			t.Errorf("%v ms, %v", ms, err)
		}
	})
}

// TestCaptureFails leaves the stream usable when the work fails.
func TestCaptureFails(t *testing.T) {
	onDevice(t, func(d driver.Driver) {
		s, m, failed := must(NewStream(d, Normal)), must(Alloc(d, 64)), errors.New("failed")
		if _, err := Capture(d, s.Handle(), func() error { return failed }); !errors.Is(err, failed) {
			t.Errorf("capture: %v", err)
		}
		if err := errors.Join(s.Copy(m.Ptr()+32, m.Ptr(), 32), s.Synchronize()); err != nil {
			t.Errorf("after a failed capture: %v", err)
		}
	})
}

func TestLeaks(t *testing.T) {
	tracking = true
	defer func() { tracking = false }()
	onDevice(t, func(d driver.Driver) {
		var report bytes.Buffer
		b, s := must(Alloc(d, 8)), must(NewStream(d, Normal))
		if n := Leaks(&report); n != 2 {
			t.Errorf("%d leaks, want 2", n)
		}
		for _, want := range []string{"buffer of 8 bytes", "stream is open", "TestLeaks"} {
			if !strings.Contains(report.String(), want) {
				t.Errorf("%q is not in the report:\n%s", want, &report)
			}
		}
		if err := errors.Join(b.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		report.Reset()
		if n := Leaks(&report); n != 0 {
			t.Errorf("after Close: %s", &report)
		}
	})
}
