package emit

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// Schedules and drivers have the same element types.
func TestElementTypes(t *testing.T) {
	types := schedule.ElementTypes()
	if len(types) != len(driver.Types()) {
		t.Errorf("schedules have the types %v, drivers %v", types, driver.Types())
	}
	for _, typ := range types {
		if known, ok := driver.ParseType(string(typ)); !ok || known.String() != string(typ) {
			t.Errorf("drivers have no type %s", typ)
		}
	}
}

// A kernel that adds up no elements of a type is refused by both names.
func TestUnable(t *testing.T) {
	table := kernels.Table{Types: []driver.Type{driver.BF16, 0},
		Kernels: []kernels.Kernel{{Kind: kernels.Reduce, Terms: 2}}}
	errs := unable(table)
	if want := "kernel reduce adds up no no type (leave it out of Types)"; len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}
