package driver

// Physical is device memory without an address (CUmemGenericAllocationHandle).
type Physical uint64

// HandleType is a set of ways in which a Physical may reach another process (CUmemAllocationHandleType).
type HandleType uint32

// Ways in which a Physical reaches another process.
const (
	FileDescriptor HandleType = 1 // an open file, which the other process must be given
	FabricHandle   HandleType = 8 // bytes, which processes of other machines of the same NVLink fabric can open too
)

// Shareable is a Physical in a form in which another process can open it.
type Shareable struct {
	Type   HandleType
	File   int // with FileDescriptor: the descriptor, which the holder closes
	Fabric [64]byte
}

// VirtualMemory has the calls of a Driver that handle device memory and its addresses separately, as CUDA's virtual
// memory management does. Sizes and addresses are multiples of the granularity.
type VirtualMemory interface {
	// MemGetAllocationGranularity is the least granularity of this device's memory.
	MemGetAllocationGranularity() (int64, error)
	// MemCreate makes memory that may reach other processes in the given ways.
	MemCreate(bytes int64, types HandleType) (Physical, error)
	// MemRetainAllocationHandle returns the memory that is mapped at an address. MemRelease releases it.
	MemRetainAllocationHandle(p Ptr) (Physical, error)
	// MemGetAllocationPropertiesFromHandle returns the ways in which the memory may reach other processes.
	MemGetAllocationPropertiesFromHandle(h Physical) (HandleType, error)
	// MemExportToShareableHandle exports the memory for another process in one of its ways.
	MemExportToShareableHandle(h Physical, t HandleType) (Shareable, error)
	// MemImportFromShareableHandle opens memory, also of this process. The file may be closed afterwards.
	MemImportFromShareableHandle(s Shareable) (Physical, error)
	// MemRelease releases the handle. The memory lives as long as a handle, a mapping, or a file of it.
	MemRelease(h Physical) error

	MemAddressReserve(bytes int64) (Ptr, error)
	// MemAddressFree frees a whole reservation of MemAddressReserve.
	MemAddressFree(p Ptr, bytes int64) error
	// MemMap maps the whole memory into a reservation. No device has access to it yet.
	MemMap(p Ptr, bytes int64, h Physical) error
	// MemUnmap undoes one MemMap.
	MemUnmap(p Ptr, bytes int64) error
	// MemSetAccess lets a device of this process, given by its Ordinal, read and write consecutive whole mappings.
	MemSetAccess(p Ptr, bytes int64, device int) error
}
