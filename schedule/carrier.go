package schedule

// Carrier is what copies between ranks and what signals. Left open, it is the fastest known
// one of the way.
type Carrier string

// Carriers.
const (
	// CopyEngine lets the copy engine copy and stream memory operations signal: the
	// multiprocessors are left to the products.
	CopyEngine Carrier = "copy engine"
	// KernelCopies are copies by kernels, which start sooner; stream memory operations signal.
	KernelCopies Carrier = "kernel copies"
	// KernelSignals are signals by kernels; the copy engine copies.
	KernelSignals Carrier = "kernel signals"
)

// Of a Carrier and of a Signaller.
const (
	// Kernels copy and signal, each a launch of its own.
	Kernels = "kernels"
	// OneKernel waits, copies or sums, and posts.
	OneKernel = "one kernel"
)

func (Carrier) values() []string {
	return []string{string(CopyEngine), string(KernelCopies), string(KernelSignals), Kernels, OneKernel}
}

// Signaller is what signals where ranks copy nothing. Left open, it is the fastest known one
// of the way.
type Signaller string

// MemOps are stream memory operations. A Signaller may also be Kernels or OneKernel.
const MemOps Signaller = "stream memory operations"

func (Signaller) values() []string { return []string{string(MemOps), Kernels, OneKernel} }

// Direction in which a ring passes shards on.
type Direction string

// Directions.
const (
	Forward  Direction = "forward"
	Backward Direction = "backward"
	Both     Direction = "both" // half a shard each way
)

func (Direction) values() []string { return []string{string(Forward), string(Backward), string(Both)} }
