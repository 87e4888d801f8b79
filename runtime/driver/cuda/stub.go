//go:build !linux || !cgo

package cuda

import (
	"fmt"

	"ovgen/runtime/driver"
)

type backend struct{}

func init() { driver.Register("cuda", backend{}) }

// Count returns the error that this build has no CUDA.
func (backend) Count() (int, error) {
	return 0, fmt.Errorf("open CUDA: this binary was built without cgo or not for Linux (build with CGO_ENABLED=1 on "+
		"Linux): %w", driver.ErrUnavailable)
}

// Open fails as Count does.
func (b backend) Open(int, uintptr) (driver.Driver, error) {
	_, err := b.Count()
	return nil, err
}
