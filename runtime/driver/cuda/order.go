//go:build linux && cgo

package cuda

/*
#include "blas.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

const orderRows = driver.OrderRows

var _ = [1]bool{}[orderRows-C.OVGEN_ORDER_ROWS] // product.c asks for algorithms for as many

// spot is a place where rows are compared: the first row of A, and the first row of the product that is compared.
type spot struct{ from, row int }

// mostSpots bounds the places at which many rows are compared: each runs the product once more.
const mostSpots = 8

// spots returns places in a product of many rows from its first rows to its last or, of few, as many products as cover
// orderRows.
func spots(m int) (list []spot) {
	if m > orderRows {
		n := min(mostSpots, (m+orderRows-1)/orderRows)
		for i := range n {
			list = append(list, spot{0, (m - orderRows) * i / (n - 1) &^ 3}) // scales of rows are aligned to 16 bytes
		}
		return list
	}
	for from := 0; from < orderRows; from += (m + 3) &^ 3 {
		list = append(list, spot{from, 0})
	}
	return list
}

// inOrder returns the choices that give rows the same bits as a product of orderRows rows by the heuristic's first
// choice, so that the bits do not depend on the number of rows. cuBLASLt does not promise that all algorithms that do
// not split K add in one order. So inOrder compares results, of numbers whose sums are rounded.
func (d *Driver) inOrder(desc driver.MatmulDesc, m driver.Product, count int, x *scratch) (list []int, err error) {
	few := desc
	few.M = orderRows
	reference, _, err := d.ask(few, x.Bias)
	if err != nil {
		return nil, err
	}
	defer C.ovgen_product_destroy(C.uintptr_t(reference))
	var want [][]byte
	for _, s := range spots(desc.M) {
		rows, err := d.rows(few, reference, spot{s.from + s.row, 0}, x)
		if err != nil {
			return nil, err
		}
		want = append(want, rows[:desc.Type.Bytes(min(desc.M, orderRows)*desc.N)])
	}
	for i := range count {
		C.ovgen_product_choose(C.uintptr_t(m), C.int(i))
		same := true
		for j, s := range spots(desc.M) {
			got, err := d.rows(desc, m, s, x) // the launch may refuse an algorithm
			if same = err == nil && bytes.Equal(got, want[j]); !same {
				break
			}
		}
		if same {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("none of %d algorithms gives a row the bits that it has among %d (leave Invariant out, "+
			"or take other sizes)", count, orderRows)
	}
	return list, nil
}

// rows runs a product and returns orderRows rows of its result, or all if it has fewer. C holds the same numbers before
// each run, for a product that adds to C.
func (d *Driver) rows(desc driver.MatmulDesc, m driver.Product, s spot, x *scratch) ([]byte, error) {
	of := x.Operands
	of.A += driver.Ptr(desc.Operand().Bytes(s.from * desc.K))
	if desc.RowScales {
		of.ScaleA += driver.Ptr(s.from * 4)
	}
	at := of.C + driver.Ptr(desc.Type.Bytes(s.row*desc.N))
	got := make([]byte, desc.Type.Bytes(min(desc.M, orderRows)*desc.N))
	err := errors.Join(
		d.MemcpyDtoDAsync(at, x.before, int64(len(got)), x.stream),
		d.Matmul(m, of, x.stream),
		d.StreamSynchronize(x.stream))
	if err == nil {
		err = d.MemcpyDtoH(got, at)
	}
	return got, err
}
