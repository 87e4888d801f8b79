package inject

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ovgen/runtime/driver"
)

// fake notes what reaches the driver.
type fake struct {
	driver.Driver
	copies int
	items  []driver.MemOp
}

func (f *fake) MemcpyDtoDAsync(driver.Ptr, driver.Ptr, int64, driver.Stream) error {
	f.copies++
	return nil
}

func (f *fake) StreamBatchMemOp(_ driver.Stream, items []driver.MemOp) error {
	f.items = slices.Clone(items)
	return nil
}

func TestFail(t *testing.T) {
	reason := errors.New("a reason")
	d := &fake{}
	f := New(d)
	f.Before = Fail("MemcpyDtoDAsync", 3, reason)
	for i := 1; i <= 5; i++ {
		if err := f.StreamBatchMemOp(1, nil); err != nil {
			t.Errorf("another call fails: %v", err)
		}
		if err := f.MemcpyDtoDAsync(0, 0, 0, 1); errors.Is(err, reason) != (i == 3) {
			t.Errorf("copy %d: %v", i, err)
		}
	}
	if d.copies != 4 {
		t.Errorf("%d copies were made", d.copies)
	}
}

func TestWithout(t *testing.T) {
	d := &fake{}
	f := New(d)
	f.Without = func(p driver.Ptr) bool { return p == 8 }
	items := []driver.MemOp{{Kind: driver.WaitEqual, Address: 8}, {Kind: driver.Write, Address: 4},
		{Kind: driver.Write, Address: 8}}
	if err := f.StreamBatchMemOp(1, items); err != nil || !slices.Equal(d.items, items[:2]) {
		t.Errorf("%v: %v", err, d.items)
	}
}

// An exchange waits for the latency and for its bytes; nothing else does.
func TestNetwork(t *testing.T) {
	var spun []time.Duration
	before := Network(func(s driver.Stream, d time.Duration) error {
		if s != 7 {
			t.Errorf("a delay on stream %d", s)
		}
		spun = append(spun, d)
		return nil
	}, 45e9, 25*time.Microsecond)
	f := New(&fake{})
	f.Before = before
	library, err := f.Collectives()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []driver.CollectiveDesc{{Kind: driver.Exchange, Bytes: 45e6},
		{Kind: driver.AllGather, Bytes: 1e6}, {Kind: driver.Exchange, Bytes: 45e6, More: 45e6}} {
		if err := library.Collective(d, 0, 0, 1, 7); err != nil {
			t.Fatal(err)
		}
	}
	if want := []time.Duration{1025 * time.Microsecond, 2025 * time.Microsecond}; !slices.Equal(spun, want) {
		t.Errorf("delays of %v, want %v", spun, want)
	}
}

func (*fake) Collectives() (driver.Collectives, error) { return silent{}, nil }

// silent is a library whose collectives do nothing.
type silent struct{ driver.Collectives }

func (silent) Collective(driver.CollectiveDesc, driver.Ptr, driver.Ptr, driver.Comm, driver.Stream) error {
	return nil
}

func TestDelay(t *testing.T) {
	spun := 0
	f := New(&fake{})
	f.Before = Delay(func(s driver.Stream, d time.Duration) error {
		if s != 7 || d < 0 || d > time.Millisecond {
			t.Errorf("a delay of %v on stream %d", d, s)
		}
		spun++
		return f.MemcpyDtoDAsync(0, 0, 0, s) // is not delayed itself
	}, 1, 4, time.Millisecond)
	for range 1000 {
		if err := f.MemcpyDtoDAsync(0, 0, 0, 7); err != nil {
			t.Fatal(err)
		}
	}
	if spun < 180 || spun > 320 {
		t.Errorf("%d of 1000 operations were delayed, want a quarter", spun)
	}
}
