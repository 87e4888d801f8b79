package harness

import (
	"ovgen/runtime/driver"
)

// Main is generated/run: it reads the command line, starts the ranks or is one
// of them, and returns the exit status: 0, 1 when a result is wrong, 2 for
// trouble. code holds the kernels described in kernels.go.
func Main(programs []Program, code *driver.Code) int { return 2 }
