package driver_test

import (
	"testing"

	"ovgen/runtime/driver"
)

// A type that there is not has no size: 2 would be a guess.
func TestTypeSize(t *testing.T) {
	for typ, want := range map[driver.Type]int64{driver.BF16: 2, driver.FP16: 2, driver.FP32: 4} {
		if got := typ.Size(); got != want {
			t.Errorf("%s has %d bytes, want %d", typ, got, want)
		}
	}
	for _, typ := range []driver.Type{0, driver.Type(len(driver.Types()) + 1), 255} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("type %d has a size", typ)
				}
			}()
			_ = typ.Size()
		}()
	}
}
