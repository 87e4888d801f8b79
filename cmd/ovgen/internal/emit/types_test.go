package emit

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// The element types of schedules are those of drivers.
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
