package schedule

// Schedule says what is computed, how its tensors are placed on the mesh and how
// the work is cut. The mesh is one-dimensional: D ranks, a GPU each.
type Schedule struct {
	// Op is the operation each rank has to complete.
	Op Op
	// Tensors of the operation: A, B, C, and Bias for a linear layer that has one.
	Tensors []Tensor
	// Pipeline is the order in which shards travel and are multiplied.
	Pipeline Pipeline
	// Transport is what moves the bytes and what signals their arrival.
	Transport Transport
	// Streams is how the steps are spread over streams.
	Streams Streams
	// Types the package accepts; empty means BF16, FP16 and FP32.
	Types []Type
}

// Op is an operation on the tensors of a schedule.
type Op string

// Operations. Matmul and Linear may have a second and a third product of the same
// A: tensors B2, Bias2, C2 with extent N2, and B3, Bias3, C3 with N3.
const (
	Matmul   Op = "matmul"   // C [M,N] = A [M,K] * B [K,N]
	Linear   Op = "linear"   // C [M,N] = A [M,K] * B [N,K]ᵀ, plus Bias [N] to each row if declared
	Gradient Op = "gradient" // C [N,K] = A [M,N]ᵀ * B [M,K]: of a weight, from the gradient A of its layer's output and the layer's input B
	MLP      Op = "mlp"      // C [M,N] = GELU(A [M,K] * B [F,K]ᵀ + Bias [F]) * B2 [N,F]ᵀ
	Copy     Op = "copy"     // C = A, placed otherwise: [M,N], or for an all-to-all [D,D,M]
	Sum      Op = "sum"      // C [M,N] = the sum of A [D,M,N] over its first axis, of which each rank has one
)

// Type is an element type; sums are kept in fp32.
type Type string

// Element types.
const (
	BF16 Type = "bf16"
	FP16 Type = "fp16"
	FP32 Type = "fp32"
)

// Tensor is a named operand or result and where its parts are.
type Tensor struct {
	Name string // A, B, Bias or C; B2, Bias2, C2, ... of further products; Gathered
	Axes []Axis // outermost first, row-major
	// Root says that only rank 0 has the tensor.
	Root bool
	// Within names the tensor whose memory holds this one as well, so that the operation
	// works in place: of an operand and a result, the one that is smaller, or either. Where
	// in that memory follows from the placements: all of it, or this rank's part.
	Within string
}

// Axis is one dimension of a tensor, cut from the outside.
type Axis struct {
	Extent Extent  // of the whole dimension
	Outer  []Split // outermost first; what is left is the inner extent
}

// Extent is a symbol bound at run time (M, K, N, F, P, N2, N3, and D for the mesh), or
// a positive decimal constant such as "128".
type Extent string

// The symbols.
const (
	M  Extent = "M"  // rows of A and C
	K  Extent = "K"  // the contracted dimension
	N  Extent = "N"  // columns of C
	N2 Extent = "N2" // columns of C2
	N3 Extent = "N3" // columns of C3
	F  Extent = "F"  // columns between the two layers of an MLP
	P  Extent = "P"  // the most rows of one rank's uneven part
	D  Extent = "D"  // ranks of the mesh
)

// Split cuts an axis into Count outer parts.
type Split struct {
	Kind  SplitKind
	Count Extent
	// Shift of a DIDx split: part p is on rank (p + Shift) % D. It is 0, or 1 for the
	// result of a permutation, which sends each rank's part to the next; no other shift
	// is lowered.
	Shift int
	// Uneven parts of a DIDx split have extents of their own, given at Bind.
	Uneven bool
	// Most rows of one uneven part, P or a constant, where New has to know: Bind
	// refuses counts above it. Empty: one rank may have all.
	Most Extent
}

// SplitKind says what the parts of a split are spread over.
type SplitKind string

// Kinds of split.
const (
	Plain      SplitKind = "plain"  // memory only
	DeviceX    SplitKind = "DIDx"   // the ranks of the mesh: a rank holds its part only
	StreamAxis SplitKind = "Stream" // steps of the pipeline: a part is made at a time
)

// DIDx shards an axis over n ranks.
func DIDx(n Extent) Split { return Split{Kind: DeviceX, Count: n} }

// Stream cuts an axis into n steps.
func Stream(n Extent) Split { return Split{Kind: StreamAxis, Count: n} }

// Dim is an axis of extent e behind the given splits.
func Dim(e Extent, outer ...Split) Axis { return Axis{Extent: e, Outer: outer} }
