package driver

import (
	"cmp"
	"unsafe"
)

// Ptr is a device address (CUdeviceptr). Zero is no address.
type Ptr uint64

// Stream is a CUstream. Zero is the legacy default stream.
type Stream uintptr

// Event is a CUevent.
type Event uintptr

// Graph is a CUgraph: captured work that can't be launched yet.
type Graph uintptr

// GraphExec is a CUgraphExec: an instantiated graph.
type GraphExec uintptr

// Module is a loaded set of kernels (CUmodule).
type Module uintptr

// Function is a kernel of a loaded Module (CUfunction).
type Function uintptr

// Product is a matrix product whose algorithm has been chosen for one shape.
type Product uintptr

// Driver is one device with its context. Methods have the names of the CUDA driver calls that they stand for (without
// "cu" and version suffixes) and take their arguments in the same order. Each error says which call failed and wraps a
// Status. Sizes are bytes. No method keeps a slice or pointer that it was passed.
//
// The calls of a steady-state run (the calls whose names end in Async, the stream, event, graph launch and launch
// calls, and Matmul) make no Go allocation.
type Driver interface {
	// Name is "cuda" or "sim"; every report of a run has it.
	Name() string
	// Properties of the device, read once when the driver was opened.
	Properties() Properties
	// DeviceCanAccessPeer reports whether this device can map memory of the device with the given UUID. The error is
	// ErrPeerInvisible for a device that this process does not see.
	DeviceCanAccessPeer(peer UUID) (bool, error)
	// DeviceGetP2PAttribute is an attribute of the link to the device with the given UUID.
	DeviceGetP2PAttribute(a P2PAttribute, peer UUID) (int, error)
	// DeviceGetNVLinks counts the NVLink connections of this device that are up. The error wraps ErrUnavailable where
	// the machine does not report them: NVML reports them, CUDA does not.
	DeviceGetNVLinks(peer UUID) (NVLinks, error)
	// Context is the device's context (CUcontext), by which other drivers of this process name it.
	Context() uintptr
	// CtxSynchronize waits for everything enqueued in the context.
	CtxSynchronize() error
	// Close releases the context. All that the driver has made must be destroyed before; a second call does nothing.
	Close() error

	VirtualMemory

	MemAlloc(bytes int64) (Ptr, error)
	MemFree(p Ptr) error
	// MemGetAddressRange returns base and size of the allocation that holds p or, for mapped memory, of one mapping.
	MemGetAddressRange(p Ptr) (base Ptr, bytes int64, err error)
	PointerGetAttributes(p Ptr) (PointerAttributes, error)
	// MemHostRegister pins host memory and maps it into the device
	// (CU_MEMHOSTREGISTER_DEVICEMAP | PORTABLE) and returns its device address.
	MemHostRegister(host unsafe.Pointer, bytes int64) (Ptr, error)
	MemHostUnregister(host unsafe.Pointer) error

	// IpcGetMemHandle exports the allocation that starts at base.
	IpcGetMemHandle(base Ptr) (IpcMemHandle, error)
	// IpcOpenMemHandle maps an allocation of another process with lazy peer access. It returns its base.
	IpcOpenMemHandle(h IpcMemHandle) (Ptr, error)
	IpcCloseMemHandle(p Ptr) error

	// MemcpyHtoD returns when the bytes are in the device's memory and every stream sees them: it waits for the legacy
	// stream after cuMemcpyHtoD, which alone does not promise that.
	MemcpyHtoD(dst Ptr, src []byte) error
	MemcpyDtoH(dst []byte, src Ptr) error
	// MemcpyDtoDAsync enqueues a copy by the copy engine. Either side may be imported from a peer.
	MemcpyDtoDAsync(dst, src Ptr, bytes int64, s Stream) error
	// Memcpy2DAsync enqueues a copy of rows by the copy engine. Either side may be imported from a peer.
	Memcpy2DAsync(c Memcpy2D, s Stream) error
	// MemcpyDtoHAsync reads one word into host memory that MemHostRegister pinned.
	MemcpyDtoHAsync(dst unsafe.Pointer, src Ptr, bytes int64, s Stream) error
	MemsetD32Async(dst Ptr, value uint32, words int64, s Stream) error

	// StreamCreateWithPriority makes a non-blocking stream (CU_STREAM_NON_BLOCKING).
	StreamCreateWithPriority(p Priority) (Stream, error)
	StreamDestroy(s Stream) error
	StreamSynchronize(s Stream) error
	// StreamQuery reports whether everything enqueued has completed.
	StreamQuery(s Stream) (done bool, err error)
	// StreamIsCapturing reports whether the stream is being captured into a graph.
	StreamIsCapturing(s Stream) (bool, error)
	StreamWaitEvent(s Stream, e Event, f EventFlags) error
	// StreamBatchMemOp enqueues waits and writes that are carried out in order. Implementations split batches that are
	// too large for the driver (256 items).
	StreamBatchMemOp(s Stream, items []MemOp) error

	// EventCreate makes an event; timing makes EventElapsedTime possible.
	EventCreate(timing bool) (Event, error)
	EventDestroy(e Event) error
	EventRecordWithFlags(e Event, s Stream, f EventFlags) error
	// EventQuery reports whether the event's last record has completed.
	EventQuery(e Event) (done bool, err error)
	EventSynchronize(e Event) error
	// EventElapsedTime is the time from a to b in milliseconds.
	EventElapsedTime(a, b Event) (ms float32, err error)

	// ModuleLoadData loads the kernels of a generated package.
	ModuleLoadData(code *Code) (Module, error)
	ModuleGetFunction(m Module, name string) (Function, error)
	ModuleUnload(m Module) error
	// LaunchKernel launches f with one by-value parameter struct of the size
	// declared in its Kernel, laid out as C lays it out.
	LaunchKernel(f Function, grid, block Dim3, s Stream, params unsafe.Pointer) error
	// OccupancyMaxActiveBlocksPerMultiprocessor is the number of blocks of a kernel that have room on a multiprocessor
	// at the same time, given a block's threads and bytes of dynamic shared memory; 0 where none has.
	OccupancyMaxActiveBlocksPerMultiprocessor(f Function, threads, shared int) (blocks int, err error)
	// TensorMapEncodeTiled sets *to to the description of a tensor, by which kernels copy boxes of it.
	TensorMapEncodeTiled(to *TensorMap, d TensorMapDesc) error

	// StreamBeginCapture starts a capture in CU_STREAM_CAPTURE_MODE_RELAXED. It must be ended on the same thread.
	StreamBeginCapture(s Stream) error
	StreamEndCapture(s Stream) (Graph, error)
	GraphInstantiate(g Graph) (GraphExec, error)
	GraphUpload(g GraphExec, s Stream) error
	GraphLaunch(g GraphExec, s Stream) error
	GraphExecDestroy(g GraphExec) error
	GraphDestroy(g Graph) error

	// MatmulCreate chooses an algorithm for the product. On CUDA it times the first eight choices of cuBLASLt's
	// heuristic on memory that it allocates, so it synchronises the device. Equal products are tuned once, and not at
	// all where package choices knows the algorithm.
	MatmulCreate(d MatmulDesc) (Product, error)
	MatmulDestroy(m Product) error
	// MatmulAlgorithm is the algorithm that was chosen for a product, as package choices' file has it, for a person
	// to compare. MatmulBy makes a product by a given algorithm, which another process has chosen for an equal one.
	MatmulAlgorithm(m Product) string
	MatmulBy(d MatmulDesc, algorithm string) (Product, error)
	// Matmul enqueues the product.
	Matmul(m Product, x Operands, s Stream) error
}

// Operands is the memory of a product. Bias is read only where MatmulDesc.Bias is set. The scales, of fp32 and aligned
// to 16 bytes, are read only where A and B are Scaled. C may be imported from a peer, and overlaps no operand that is
// read. Workspace has WorkspaceBytes; only one stream uses it.
type Operands struct{ C, A, B, Bias, ScaleA, ScaleB, Workspace Ptr }

// Memcpy2D is a copy of Height rows of Width bytes each. Each row begins Pitch bytes after the row before it; the pitch
// is at least Width and at most MaxPitch (CUDA_MEMCPY2D).
type Memcpy2D struct {
	Dst           Ptr
	DstPitch      int64
	Src           Ptr
	SrcPitch      int64
	Width, Height int64
}

// MaxPitch is the largest pitch in bytes with which CUDA copies several rows (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
const MaxPitch = 1<<31 - 1

// WorkspaceBytes is the size of the workspace that each compute stream passes to Matmul.
const WorkspaceBytes = 32 << 20

// Priority of a stream, from Low to High; a driver spreads them evenly over CUDA's priorities.
type Priority int

// Stream priorities. An H200 has one priority for each number from Low to High.
const (
	Low    Priority = 0
	Normal Priority = 2
	High   Priority = 5
)

// EventFlags tell how an event is recorded or waited for under capture.
type EventFlags uint32

// External makes an event record or wait a separate node of a captured graph, visible outside of the graph
// (CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL).
const External EventFlags = 1

// MemOpKind is the action of an item of a batch.
type MemOpKind uint32

// Kinds of batch items.
const (
	// WaitEqual blocks the stream until the word equals the value (CU_STREAM_MEM_OP_WAIT_VALUE_32, EQ).
	WaitEqual MemOpKind = iota
	// Write stores the value after a system-wide fence (CU_STREAM_MEM_OP_WRITE_VALUE_32, default flags).
	Write
)

// MemOp is one item of StreamBatchMemOp: a wait for or a write to a 32-bit word.
type MemOp struct {
	Kind    MemOpKind
	Value   uint32
	Address Ptr
}

// Dim3 is the extent of a grid or of a block.
type Dim3 struct{ X, Y, Z uint32 }

// IpcMemHandle is an opaque CUipcMemHandle.
type IpcMemHandle [64]byte

// P2PAttribute is a property of the link between two devices.
type P2PAttribute int

// NativeAtomics is 1 where the link carries atomic operations, as NVLink does and PCIe
// does not (CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED).
const NativeAtomics P2PAttribute = 3

// NVLinks counts connections of a device: Direct ones end at a given peer, Switch ones at a switch.
type NVLinks struct{ Direct, Switch int }

// UUID identifies a physical device across processes.
type UUID [16]byte

// Properties of a device.
type Properties struct {
	Ordinal         int    // the number of the device in this process
	Name            string // "NVIDIA H200"
	UUID            UUID
	Multiprocessors int
	Major, Minor    int   // compute capability
	Memory          int64 // total bytes
	Version         int   // of the driver: 12040 for 12.4
}

// PointerAttributes are CUDA's attributes of an address.
type PointerAttributes struct {
	Device   bool   // device memory (CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
	Ordinal  int    // of the device, as Properties numbers it
	BufferID uint64 // unique to the allocation, also if an address is used again
	// LegacyIpcCapable says that IpcGetMemHandle can export the memory: not stream-ordered pools or mapped memory.
	LegacyIpcCapable bool
	// Pooled says that the memory came from a stream-ordered memory pool.
	Pooled bool
}

// Kernel describes one kernel of a Code.
type Kernel struct {
	Name   string
	Params int // size of its parameter struct in bytes
	// Shared is the bytes of dynamic shared memory of a block; Cluster is the number of blocks of a cluster, or 0.
	Shared, Cluster int
	// Only is the one compute capability, 90 for 9.0, that runs the kernel; 0: any from From, or from 8.0, on.
	Only, From int
	// AtOnce says that all blocks of a launch run at the same time, since some blocks wait for results of others. So a
	// grid has no more blocks than the device has room for.
	AtOnce bool
	// Threads is the largest number of threads of a block, and Blocks of blocks of a launch, for a kernel whose blocks
	// must run at the same time: New asks the device whether the blocks of the plan's launches have room. If AtOnce is
	// set, there must be room for one block on each multiprocessor.
	Threads, Blocks int
	// Early: a launch starts when the one before lets it, and awaits its end; from 9.0 on. Ahead: it reads until then.
	Early, Ahead bool
	// Function is the name of the function that a kernel of elements or of groups applies.
	Function string
	// Multiprocessors is the least number of multiprocessors that a device needs to run the kernel, whose blocks wait
	// side by side for the peers' blocks; 0: any number.
	Multiprocessors int
	Form            string // of a kernel of formulas: the key of the formulas
	Finish          string // of a kernel that sums: the key of the formulas of each element of the sum
	FinishEnd       int    // parameters, of eight bytes each, up to the end of the numbers of these
	// Row is a further description of the kernel by the maker of the Code. Package verify/touch lists by it the memory
	// that a launch uses, for the simulator and the recorder; no other driver reads it.
	Row any
}

// MatmulDesc is a row-major product C[M,N] = A[M,K] * B (+ bias over columns).
type MatmulDesc struct {
	M, K, N int
	Type    Type
	// Transposed says that B is stored as [N,K] (a linear layer's weight), else as [K,N].
	Transposed bool
	// TransposedA says that A is stored as [K,M] (a weight's gradient), else as [M,K].
	TransposedA bool
	Bias        bool // bias [N] is added to each row
	Func        Func // applied to each element of the sum, before it is rounded
	Accumulate  bool // adds the contents of C before the one rounding; not with a Func
	// Of is the type of A and B where it differs from Type: a type of 8 bits, whose sums are multiplied by the scales
	// of A and B, or a type of 16 bits, whose sums stay fp32.
	Of          Type
	OfB         Type // of B, where one of A and B is e4m3 and the other e5m2; 0: that of A
	RowScales   bool // A has a scale for each of M, B for each of N; else each operand has one scale
	BlockScales bool // scales of A [K/ScaleBlock, M], of B [N/ScaleBlock, K/ScaleBlock]: each multiplies a block's sum
	// InOrder excludes algorithms that split K and makes all algorithms in use add in one order, so that a row has the
	// same bits beside any number of rows. A is stored as [M,K].
	InOrder bool
}

// Operand is the element type of A, and OperandB that of B.
func (d MatmulDesc) Operand() Type  { return cmp.Or(d.Of, d.Type) }
func (d MatmulDesc) OperandB() Type { return cmp.Or(d.OfB, d.Operand()) }

// Scaled reports whether A and B have scales: their element type saturates.
func (d MatmulDesc) Scaled() bool { return d.Of.Valid() && d.Of.Saturates() }

// ScaleBlock is the number of elements of a row that share a scale, where blocks have scales.
const ScaleBlock = 128

// Scales returns the number of scales of A and of B; both are 0 where the product is not Scaled.
func (d MatmulDesc) Scales() (a, b int) {
	switch {
	case !d.Scaled():
		return 0, 0
	case d.RowScales:
		return d.M, d.N
	case d.BlockScales:
		return d.M * (d.K / ScaleBlock), d.N / ScaleBlock * (d.K / ScaleBlock)
	}
	return 1, 1
}
