package driver

import "fmt"

// Func is a function of each element of a product, by its name in schedules. A driver refuses others than it applies.
type Func string

// Check refuses a product that no driver makes: without size or element type, or with a function and accumulating.
func (d MatmulDesc) Check() error {
	switch {
	case d.M <= 0 || d.K <= 0 || d.N <= 0:
		return fmt.Errorf("create product %d,%d,%d: the extents must be positive", d.M, d.K, d.N)
	case !d.Type.Valid():
		return fmt.Errorf("create product: there is no element type %d", d.Type)
	case d.Func != "" && d.Accumulate:
		return fmt.Errorf("create product: %s can't follow a product that accumulates (leave one out)", d.Func)
	case d.Type.Saturates() || (d.RowScales || d.BlockScales || d.OfB != 0) && !d.Scaled():
		return fmt.Errorf("create product of %s: a result has no scales, and Of has 8 bits where A and B have", d.Type)
	case d.InOrder && d.TransposedA:
		return fmt.Errorf("create product: a product in order has rows, and A is stored as [K,M] (leave InOrder out)")
	case d.Scaled():
		return d.checkScaled()
	case d.Of != 0:
		return d.checkWide()
	}
	return nil
}

// checkWide refuses a product with an unscaled Of, unless Of has 16 bits and sums stay in fp32, with nothing added.
func (d MatmulDesc) checkWide() error {
	switch {
	case d.Of != BF16 && d.Of != FP16 || d.Type != FP32:
		return fmt.Errorf("create product of %s: it is %s, and is so or fp32 of 16 bits (leave Of out)", d.Of, d.Type)
	case d.Bias || d.Func != "" || d.Accumulate:
		return fmt.Errorf("create product of %s: in %s leave bias, function and C's contents out", d.Of, d.Type)
	}
	return nil
}

// checkScaled refuses scaled products that no device computes.
func (d MatmulDesc) checkScaled() error {
	why, b := "", d.OperandB()
	switch up := func(n, unit int) int { return (n + unit - 1) / unit * unit }; {
	case b != E4M3 && (d.Of != E4M3 || b != E5M2), d.Of != E4M3 && d.Of != E5M2, d.Type != BF16 && d.Type != FP16:
		why = fmt.Sprintf("e4m3 meets e4m3 or e5m2, and makes bf16 or fp16, not %s by %s into %s", d.Of, b, d.Type)
	case !d.Transposed || d.TransposedA:
		why = "rows of A meet rows of B (store A as [M,K] and B as [N,K])"
	case d.K%16 != 0 || d.N%16 != 0:
		why = fmt.Sprintf("K and N are multiples of 16, like %d and %d (zeros add nothing)", up(d.K, 16), up(d.N, 16))
	case d.Func != "":
		why = fmt.Sprintf("%s is for a kernel behind it (leave it out)", d.Func)
	case (d.RowScales || d.BlockScales) && d.Bias && d.Accumulate: // cuBLASLt rounds before it adds the last of the two
		why = "a sum with more scales than two takes a bias or accumulates (leave one out)"
	case d.BlockScales && (b != d.Of || d.RowScales || d.InOrder || d.M%8+d.K%(4*ScaleBlock)+d.N%ScaleBlock != 0):
		why = fmt.Sprintf("scales of blocks need e4m3, M, K and N like %d, %d and %d, and no RowScales or InOrder",
			up(d.M, 8), up(d.K, 4*ScaleBlock), up(d.N, ScaleBlock))
	default:
		return nil
	}
	return fmt.Errorf("create product of %s: %s", d.Of, why)
}
