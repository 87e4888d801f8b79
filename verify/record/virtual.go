package record

import (
	"fmt"

	"ovgen/runtime/driver"
)

// unmapped has the calls for virtual memory of a device that has none: a recorded plan needs none.
type unmapped struct{}

func refused(call string) error {
	return fmt.Errorf("%s: the recorder has no virtual memory: %w", call, driver.ErrUnavailable)
}

// MemGetAllocationGranularity is refused, as are all calls below.
func (unmapped) MemGetAllocationGranularity() (int64, error) {
	return 0, refused("MemGetAllocationGranularity")
}

// MemCreate is refused.
func (unmapped) MemCreate(int64, driver.HandleType) (driver.Physical, error) {
	return 0, refused("MemCreate")
}

// MemRetainAllocationHandle is refused.
func (unmapped) MemRetainAllocationHandle(driver.Ptr) (driver.Physical, error) {
	return 0, refused("MemRetainAllocationHandle")
}

// MemGetAllocationPropertiesFromHandle is refused.
func (unmapped) MemGetAllocationPropertiesFromHandle(driver.Physical) (driver.HandleType, error) {
	return 0, refused("MemGetAllocationPropertiesFromHandle")
}

// MemExportToShareableHandle is refused.
func (unmapped) MemExportToShareableHandle(driver.Physical, driver.HandleType) (driver.Shareable, error) {
	return driver.Shareable{}, refused("MemExportToShareableHandle")
}

// MemImportFromShareableHandle is refused.
func (unmapped) MemImportFromShareableHandle(driver.Shareable) (driver.Physical, error) {
	return 0, refused("MemImportFromShareableHandle")
}

// MemRelease is refused.
func (unmapped) MemRelease(driver.Physical) error { return refused("MemRelease") }

// MemAddressReserve is refused.
func (unmapped) MemAddressReserve(int64) (driver.Ptr, error) { return 0, refused("MemAddressReserve") }

// MemAddressFree is refused.
func (unmapped) MemAddressFree(driver.Ptr, int64) error { return refused("MemAddressFree") }

// MemMap is refused.
func (unmapped) MemMap(driver.Ptr, int64, driver.Physical) error { return refused("MemMap") }

// MemUnmap is refused.
func (unmapped) MemUnmap(driver.Ptr, int64) error { return refused("MemUnmap") }

// MemSetAccess is refused.
func (unmapped) MemSetAccess(driver.Ptr, int64, int) error { return refused("MemSetAccess") }
