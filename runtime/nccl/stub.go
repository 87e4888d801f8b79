//go:build !linux || !cgo

package nccl

import (
	"fmt"

	"ovgen/runtime/driver"
)

func init() {
	driver.RegisterNCCL(func(uintptr) (driver.Collectives, error) {
		return nil, fmt.Errorf("open NCCL: this build has no cgo, or is not for Linux: %w", driver.ErrUnavailable)
	})
}
