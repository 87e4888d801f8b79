package sim

import (
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
)

// codeKey names a driver.Code by its Name and Source.
type codeKey struct{ name, source string }

var tables sync.Map // from codeKey to unsafe.Pointer

// Compiled tells the simulator where the kernels of a driver.Code with that Name and Source are, compiled for the host.
// table is the C function that returns them (templates/device/host.h). Package host, which is generated beside the
// packages of schedules, calls Compiled for each package when it is imported.
func Compiled(name, source string, table unsafe.Pointer) { tables.Store(codeKey{name, source}, table) }

// compiled is the C function for a Code, or nil.
func compiled(code *driver.Code) unsafe.Pointer {
	table, _ := tables.Load(codeKey{code.Name, code.Source})
	at, _ := table.(unsafe.Pointer)
	return at
}
