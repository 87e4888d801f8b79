package sim

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"ovgen/runtime/driver"
	"ovgen/verify/functions"
)

// MatmulCreate checks the product's shape; there is one algorithm.
func (c *Context) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	const call = "cublasLtMatmulAlgoGetHeuristic"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if _, known := functions.Find(string(d.Func)); d.Check() != nil || d.Func != "" && !known {
		return 0, failBlas(call, blasInvalidValue)
	}
	h := driver.Product(c.world.handle())
	c.products[h] = &d
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

// MatmulAlgorithm names the only one.
func (c *Context) MatmulAlgorithm(driver.Product) string { return "the simulator's" }

// Matmul enqueues a product. cuBLASLt doesn't look at addresses; a wrong one is
// found when the product runs.
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
	if c.streams[s] == nil {
		return failBlas(call, blasExecutionFailure)
	}
	if overlaps(d, x) {
		return fmt.Errorf("multiply: an operand meets the result at %#x (give the result memory of its own): %w",
			uint64(x.C), failBlas(call, blasInvalidValue))
	}
	_, err := c.enqueue(call, s, &task{kind: matmul, desc: *d, operands: x}, 1)
	return err
}

// overlaps reports whether a product writes memory that others of its tiles read.
func overlaps(d *driver.MatmulDesc, x driver.Operands) bool {
	size := d.Type.Size()
	end := x.C + driver.Ptr(int64(d.M)*int64(d.N)*size)
	meets := func(p driver.Ptr, rows, columns int) bool {
		return p < end && x.C < p+driver.Ptr(int64(rows)*int64(columns)*size)
	}
	return meets(x.A, d.M, d.K) || meets(x.B, d.K, d.N) || d.Bias && meets(x.Bias, 1, d.N)
}

// Steps of a matmul after its begin: the operands are read at two moments, with the second
// the addend too, the product is computed, and written in two halves.
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
	m, k, n := int64(d.M), int64(d.K), int64(d.N)
	w.access(o, o.operands.A, m*k*size, 0)
	w.access(o, o.operands.B, k*n*size, 0)
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
		o.floats[0] = w.load(o, "A", o.operands.A, d.M*d.K)
	case readB:
		o.floats[1] = w.load(o, "B", o.operands.B, d.K*d.N)
		w.loadSum(o)
	case compute:
		// the operands are the operation's own by now: hosts need not wait
		w.mu.Unlock()
		multiply(d, o.floats)
		w.mu.Lock()
	case writeUpper:
		w.store(o, 0, d.M/2)
	case writeLower:
		w.store(o, d.M/2, d.M)
	}
}

// load reads n elements as fp32.
func (w *World) load(o *op, name string, p driver.Ptr, n int) []float32 {
	src := o.ctx.bytes(p, int64(n)*o.desc.Type.Size())
	if src == nil {
		w.fault(o, "operand %s of %d elements at %#x", name, n, uint64(p))
		return nil
	}
	f := take(&w.pools.floats, n)
	widen(o.desc.Type, f, src)
	return f
}

// loadSum sets the product to its addends: zero or C, and the bias.
func (w *World) loadSum(o *op) {
	n := o.desc.N
	var c []float32
	if o.desc.Accumulate {
		c = w.load(o, "C", o.operands.C, o.desc.M*n)
	} else {
		c = take(&w.pools.floats, o.desc.M*n)
		clear(c)
	}
	o.floats[2] = c
	if !o.desc.Bias {
		return
	}
	bias := w.load(o, "bias", o.operands.Bias, n)
	for i := range c {
		if bias != nil {
			c[i] += bias[i%n]
		}
	}
	give(&w.pools.floats, bias)
}

// multiply adds the product to floats[2], which has the addends.
func multiply(d *driver.MatmulDesc, floats [3][]float32) {
	a := blas32.General{Rows: d.M, Cols: d.K, Stride: d.K, Data: floats[0]}
	b := blas32.General{Rows: d.K, Cols: d.N, Stride: d.N, Data: floats[1]}
	c := blas32.General{Rows: d.M, Cols: d.N, Stride: d.N, Data: floats[2]}
	trans := blas.NoTrans
	if d.Transposed {
		trans = blas.Trans
		b.Rows, b.Cols, b.Stride = d.N, d.K, d.K
	}
	transA := blas.NoTrans
	if d.TransposedA {
		transA = blas.Trans
		a.Rows, a.Cols, a.Stride = d.K, d.M, d.M
	}
	blas32.Gemm(transA, trans, 1, a, b, 1, c)
	if f, ok := functions.Find(string(d.Func)); ok {
		for i, x := range floats[2] {
			floats[2][i] = float32(f.Of(float64(x)))
		}
	}
}

// store rounds rows of the product to the type.
func (w *World) store(o *op, from, to int) {
	n, size := o.desc.N, int(o.desc.Type.Size())
	dst := o.ctx.bytes(o.operands.C, int64(o.desc.M*n*size))
	if dst == nil || o.ctx.bytes(o.operands.Workspace, driver.WorkspaceBytes) == nil {
		w.fault(o, "product at %#x, workspace at %#x", uint64(o.operands.C), uint64(o.operands.Workspace))
		return
	}
	narrow(o.desc.Type, dst[from*n*size:to*n*size], o.floats[2][from*n:to*n])
}
