package schedule

// Carrier names the engine of copies between ranks and of signals, each in a separate step. Left open, it is the way's
// fastest known engine.
type Carrier string

// StepCarrier is the Carrier of a way in which one kernel can do a whole step: it may also be OneKernel.
type StepCarrier string

// Values of Carrier and StepCarrier.
const (
	// CopyEngine lets the copy engine copy and stream memory operations signal: the multiprocessors are left to the
	// products.
	CopyEngine = "copy engine"
	// KernelCopies are copies by kernels, which start sooner; stream memory operations signal. Where only a kernel of
	// formulas on the copy's stream reads the data, there is no copy: that kernel reads the data at the peer.
	KernelCopies = "kernel copies"
	// KernelSignals are signals by kernels; the copy engine copies.
	KernelSignals = "kernel signals"
)

// Kernels copy and signal, with a launch for each; every signaller and every carrier has this value.
const Kernels = "kernels"

// OneKernel waits, copies or sums, and posts; only StepCarrier and StepSignaller have this value.
const OneKernel = "one kernel"

func (Carrier) values() []string { return []string{CopyEngine, KernelCopies, KernelSignals, Kernels} }

func (StepCarrier) values() []string { return append(Carrier("").values(), OneKernel) }

// Signaller names the engine of signals in ways without copies between ranks. Left open, it is the way's fastest known
// engine.
type Signaller string

// StepSignaller is the Signaller of a way in which one kernel can do a whole step: it may also be OneKernel.
type StepSignaller string

// MemOps are stream memory operations: a value of Signaller and of StepSignaller, which may also be Kernels.
const MemOps = "stream memory operations"

func (Signaller) values() []string { return []string{MemOps, Kernels} }

func (StepSignaller) values() []string { return append(Signaller("").values(), OneKernel) }

// Direction is the direction in which a ring passes shards on.
type Direction string

// Directions.
const (
	Forward  Direction = "forward"
	Backward Direction = "backward"
	Both     Direction = "both" // half a shard each way
)

func (Direction) values() []string { return []string{string(Forward), string(Backward), string(Both)} }
