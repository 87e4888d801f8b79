package driver

// Physical is device memory without an address (CUmemGenericAllocationHandle).
type Physical uint64

// HandleType is a set of ways in which a Physical may reach another process (CUmemAllocationHandleType).
type HandleType uint32

// Ways in which a Physical reaches another process.
const (
	FileDescriptor HandleType = 1 // an open file, which the process must be given
	FabricHandle   HandleType = 8 // bytes, which also the processes of other machines of one NVLink fabric open
)

// Shareable is a Physical as another process opens it, in one of the ways.
type Shareable struct {
	Type   HandleType
	File   int // with FileDescriptor: the descriptor, which its holder closes
	Fabric [64]byte
}

// VirtualMemory are the calls of a Driver for device memory and its addresses apart, as CUDA's virtual memory
// management has them. Sizes and addresses are multiples of the granularity.
type VirtualMemory interface {
	// MemGetAllocationGranularity is the least one of this device's memory.
	MemGetAllocationGranularity() (int64, error)
	// MemCreate makes memory that may reach other processes in these ways.
	MemCreate(bytes int64, types HandleType) (Physical, error)
	// MemRetainAllocationHandle is the memory that is mapped at an address. It is released like one of MemCreate's.
	MemRetainAllocationHandle(p Ptr) (Physical, error)
	// MemGetAllocationPropertiesFromHandle says in which ways the memory may reach other processes.
	MemGetAllocationPropertiesFromHandle(h Physical) (HandleType, error)
	// MemExportToShareableHandle readies the memory for another process in one of its ways.
	MemExportToShareableHandle(h Physical, t HandleType) (Shareable, error)
	// MemImportFromShareableHandle opens memory, also of this process. The file may be closed then.
	MemImportFromShareableHandle(s Shareable) (Physical, error)
	// MemRelease gives up the handle. The memory lives as long as a handle, a mapping, or a file of it.
	MemRelease(h Physical) error

	MemAddressReserve(bytes int64) (Ptr, error)
	// MemAddressFree gives back all that MemAddressReserve returned.
	MemAddressFree(p Ptr, bytes int64) error
	// MemMap maps all of the memory into a reservation. No device has access to it yet.
	MemMap(p Ptr, bytes int64, h Physical) error
	// MemUnmap undoes one MemMap.
	MemUnmap(p Ptr, bytes int64) error
	// MemSetAccess lets a device of this process, by its Ordinal, read and write whole mappings, which follow one
	// another.
	MemSetAccess(p Ptr, bytes int64, device int) error
}
