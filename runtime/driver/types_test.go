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
			if typ.Bits() < 4 || typ.Digits() < 1 && typ != driver.UE8M0 || typ.Bytes(6) != 6*typ.Bits()/8 {
				t.Errorf("%s has %d bits and %d digits", typ, typ.Bits(), typ.Digits())
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
