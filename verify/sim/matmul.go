package sim

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"ovgen/runtime/driver"
)

// Algorithms of products: one sums the whole depth in order, the other sums its two halves separately.
const (
	inOne  = "the simulator's"
	halved = "the simulator's, in halves"
)

// product is a product and the algorithm by which it was made.
type product struct {
	driver.MatmulDesc
	by string
}

// MatmulCreate checks the product's shape.
func (c *Context) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	if halves := c.world.cfg.Halves; halves != nil && halves(c.ordinal) {
		return c.MatmulBy(d, halved)
	}
	return c.MatmulBy(d, inOne)
}

// MatmulBy checks the algorithm too.
func (c *Context) MatmulBy(d driver.MatmulDesc, by string) (driver.Product, error) {
	const call = "cublasLtMatmulAlgoGetHeuristic"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if d.Check() != nil || epilogues[d.Func] == nil || by != inOne && by != halved {
		return 0, failBlas(call, blasInvalidValue)
	}
	h := driver.Product(c.world.handle())
	c.products[h] = &product{d, by}
	return h, nil
}

// MatmulDestroy forgets a product.
func (c *Context) MatmulDestroy(m driver.Product) error {
	const call = "cublasLtMatmulDescDestroy"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if c.products[m] == nil {
		return failBlas(call, blasInvalidValue)
	}
	delete(c.products, m)
	return nil
}

// MatmulAlgorithm is the algorithm by which a product was made.
func (c *Context) MatmulAlgorithm(m driver.Product) string {
	if c.enter("cublasLtMatmul") != nil {
		return ""
	}
	defer c.leave()
	if p := c.products[m]; p != nil {
		return p.by
	}
	return ""
}

// Matmul enqueues a product. cuBLASLt doesn't look at addresses; a wrong address is found when the product runs.
func (c *Context) Matmul(m driver.Product, x driver.Operands, s driver.Stream) error {
	const call = "cublasLtMatmul"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	d := c.products[m]
	if d == nil || x.C == 0 || x.A == 0 || x.B == 0 || x.Workspace == 0 || d.Bias && x.Bias == 0 {
		return failBlas(call, blasInvalidValue)
	}
	if d.Scaled() && (x.ScaleA == 0 || x.ScaleB == 0 || x.ScaleA%16 != 0 || x.ScaleB%16 != 0) {
		return fmt.Errorf("multiply: scales at %#x and %#x must be there and aligned to 16 bytes: %w",
			uint64(x.ScaleA), uint64(x.ScaleB), failBlas(call, blasInvalidValue))
	}
	if c.streams[s] == nil {
		return failBlas(call, blasExecutionFailure)
	}
	if overlaps(&d.MatmulDesc, x) {
		return fmt.Errorf("multiply: an operand meets the result at %#x (give the result memory of its own): %w",
			uint64(x.C), failBlas(call, blasInvalidValue))
	}
	_, err := c.enqueue(call, s, &task{kind: matmul, desc: d.MatmulDesc, halves: d.by == halved, operands: x}, 1)
	return err
}

// overlaps reports whether a product writes memory that another of its tiles reads.
func overlaps(d *driver.MatmulDesc, x driver.Operands) bool {
	end := x.C + driver.Ptr(d.Type.Bytes(d.M*d.N))
	meets := func(p driver.Ptr, bytes int64) bool { return p < end && x.C < p+driver.Ptr(bytes) }
	a, b := d.Scales()
	return meets(x.A, d.Operand().Bytes(d.M*d.K)) || meets(x.B, d.OperandB().Bytes(d.K*d.N)) ||
		d.Bias && meets(x.Bias, d.Type.Bytes(d.N)) || a > 0 && meets(x.ScaleA, int64(a)*4) ||
		b > 0 && meets(x.ScaleB, int64(b)*4)
}

// Steps of a matmul after its begin: it reads the operands at two moments, the second time with the addend, computes
// the product, and writes it in two halves.
const (
	readA = 1 + iota
	readB
	compute
	writeUpper
	writeLower
	matmulSteps
)

func (w *World) beginMatmul(o *op) {
	o.steps = matmulSteps
	d, size := &o.desc, o.desc.Type.Size()
	m, n := int64(d.M), int64(d.N)
	w.access(o, o.operands.A, d.Operand().Bytes(d.M*d.K), 0)
	w.access(o, o.operands.B, d.OperandB().Bytes(d.K*d.N), 0)
	if a, b := d.Scales(); a > 0 {
		w.access(o, o.operands.ScaleA, int64(a)*4, 0)
		w.access(o, o.operands.ScaleB, int64(b)*4, 0)
	}
	if d.Bias {
		w.access(o, o.operands.Bias, n*size, 0)
	}
	if d.Accumulate {
		w.access(o, o.operands.C, m*n*size, 0)
	}
	w.access(o, o.operands.C, m*n*size, accessWrite)
	w.access(o, o.operands.Workspace, driver.WorkspaceBytes, accessWrite)
}

func (w *World) matmulStep(o *op) {
	d := &o.desc
	switch o.step {
	case readA:
		o.floats[0] = w.load(o, "A", d.Operand(), o.operands.A, d.M*d.K)
	case readB:
		o.floats[1] = w.load(o, "B", d.OperandB(), o.operands.B, d.K*d.N)
		a, b := d.Scales()
		o.scales = [2][]float32{w.load(o, "A's scales", driver.FP32, o.operands.ScaleA, a),
			w.load(o, "B's scales", driver.FP32, o.operands.ScaleB, b)}
		w.loadSum(o)
	case compute:
		// the operation has copies of its operands by now: hosts need not wait
		w.mu.Unlock()
		multiply(d, o.floats, o.scales, o.halves)
		w.mu.Lock()
	case writeUpper:
		w.store(o, 0, d.M/2)
	case writeLower:
		w.store(o, d.M/2, d.M)
	}
}

// load reads n elements as fp32.
func (w *World) load(o *op, name string, t driver.Type, p driver.Ptr, n int) []float32 {
	if n == 0 {
		return nil
	}
	src := o.ctx.bytes(p, t.Bytes(n))
	if src == nil {
		w.fault(o, "operand %s of %d elements at %#x", name, n, uint64(p))
		return nil
	}
	f := take(&w.pools.floats, n)
	widen(t, f, src)
	return f
}

// loadSum sets the product to its addends: zero or C, and the bias.
func (w *World) loadSum(o *op) {
	n := o.desc.N
	var c []float32
	if o.desc.Accumulate {
		c = w.load(o, "C", o.desc.Type, o.operands.C, o.desc.M*n)
	} else {
		c = take(&w.pools.floats, o.desc.M*n)
		clear(c)
	}
	o.floats[2] = c
	if !o.desc.Bias {
		return
	}
	bias := w.load(o, "bias", o.desc.Type, o.operands.Bias, n)
	for i := range c {
		if bias != nil {
			c[i] += bias[i%n]
		}
	}
	give(&w.pools.floats, bias)
}

// multiply adds the product to floats[2], which has the addends. It adds one sum, or two sums over half the depth each.
// Scales multiply a sum, and not its terms.
func multiply(d *driver.MatmulDesc, floats [3][]float32, scales [2][]float32, halves bool) {
	switch {
	case d.BlockScales:
		for from := 0; from < d.K; from += driver.ScaleBlock {
			addSum(d, floats, scales, from, from+driver.ScaleBlock)
		}
	case halves:
		addSum(d, floats, scales, 0, d.K/2)
		addSum(d, floats, scales, d.K/2, d.K)
	case d.Scaled():
		addSum(d, floats, scales, 0, d.K)
	default:
		sumOf(d, floats, 0, d.K)
	}
	if d.Func == "" {
		return
	}
	for i, x := range floats[2] {
		floats[2][i] = float32(epilogues[d.Func](float64(x)))
	}
}

// addSum adds a sum over a part of the depth, times its scales if there are any.
func addSum(d *driver.MatmulDesc, floats [3][]float32, scales [2][]float32, from, to int) {
	sums := floats
	sums[2] = make([]float32, d.M*d.N)
	sumOf(d, sums, from, to)
	for i, x := range sums[2] {
		if a, b := scales[0], scales[1]; d.BlockScales {
			block, blocks := from/driver.ScaleBlock, d.K/driver.ScaleBlock
			x *= a[block*d.M+i/d.N] * b[i%d.N/driver.ScaleBlock*blocks+block]
		} else if d.Scaled() {
			x *= a[i/d.N%len(a)] * b[i%d.N%len(b)]
		}
		floats[2][i] += x
	}
}

// sumOf adds the products of a part of the depth: in order, one after another from front to end.
func sumOf(d *driver.MatmulDesc, floats [3][]float32, from, to int) {
	if d.InOrder {
		inOrder(d, floats, from, to)
		return
	}
	a := blas32.General{Rows: d.M, Cols: to - from, Stride: d.K, Data: floats[0][from:]}
	b := blas32.General{Rows: to - from, Cols: d.N, Stride: d.N, Data: floats[1][from*d.N:]}
	c := blas32.General{Rows: d.M, Cols: d.N, Stride: d.N, Data: floats[2]}
	trans := blas.NoTrans
	if d.Transposed {
		trans = blas.Trans
		b = blas32.General{Rows: d.N, Cols: to - from, Stride: d.K, Data: floats[1][from:]}
	}
	transA := blas.NoTrans
	if d.TransposedA {
		transA = blas.Trans
		a = blas32.General{Rows: to - from, Cols: d.M, Stride: d.M, Data: floats[0][from*d.M:]}
	}
	blas32.Gemm(transA, trans, 1, a, b, 1, c)
}

// inOrder adds the sum of a part of the depth, made as the kernels of tiles make it on a host.
func inOrder(d *driver.MatmulDesc, floats [3][]float32, from, to int) {
	apart, step := 1, d.N // of columns of B, and of what a column has of the depth
	if d.Transposed {
		apart, step = d.K, 1
	}
	for row := range d.M {
		a := floats[0][row*d.K:]
		for column := range d.N {
			b, sum := floats[1][column*apart:], float32(0)
			for k := from; k < to; k++ {
				sum += float32(a[k] * b[k*step]) // rounded: a host may not join both
			}
			floats[2][row*d.N+column] += sum
		}
	}
}

// store rounds rows of the product to the type.
func (w *World) store(o *op, from, to int) {
	n, size := o.desc.N, int(o.desc.Type.Size())
	dst := o.ctx.bytes(o.operands.C, int64(o.desc.M*n*size))
	if dst == nil || o.ctx.span(o.operands.Workspace, driver.WorkspaceBytes) == nil {
		w.fault(o, "product at %#x, workspace at %#x", uint64(o.operands.C), uint64(o.operands.Workspace))
		return
	}
	narrow(o.desc.Type, dst[from*n*size:to*n*size], o.floats[2][from*n:to*n])
}
