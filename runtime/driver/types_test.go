package driver_test

import (
	"testing"

	"ovgen/runtime/driver"
)

// Every element type has a row of the table, and every other number is refused.
func TestTypes(t *testing.T) {
	for n := range 256 {
		typ := driver.Type(n)
		parsed, ok := driver.ParseType(typ.String())
		if ok != typ.Valid() || ok && parsed != typ {
			t.Errorf("type %d is %q, which is parsed as %d, %v", n, typ, parsed, ok)
		}
		func() {
			defer func() {
				if refused := recover() != nil; refused == typ.Valid() {
					t.Errorf("the size of type %d is refused: %v", n, refused)
				}
			}()
			if typ.Size() < 1 || typ.Digits() < 1 || typ.Bytes(3) != 3*typ.Size() {
				t.Errorf("%s has %d bytes and %d digits", typ, typ.Size(), typ.Digits())
			}
		}()
	}
	if len(driver.Types()) == 0 {
		t.Error("there are no types")
	}
	for _, typ := range driver.Types() {
		if !typ.Valid() {
			t.Errorf("type %d has no row", typ)
		}
	}
}
