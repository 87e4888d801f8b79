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

// orderRows are the rows of the product that says which bits rows have.
const orderRows = C.OVGEN_ORDER_ROWS

// spot is where rows are compared: the first row of A that the product gets, and of those the first that is compared.
type spot struct{ from, row int }

// spots are the first rows of a product and the last ones, or, of few, as many products of few rows as have orderRows.
func spots(m int) (list []spot) {
	if m > orderRows {
		return []spot{{0, 0}, {0, (m - orderRows) &^ 3}} // scales of rows are aligned to 16 bytes
	}
	for from := 0; from < orderRows; from += (m + 3) &^ 3 {
		list = append(list, spot{from, 0})
	}
	return list
}

// inOrder returns the choices that give rows the bits that they have in a product of orderRows rows by the heuristic's
// first choice, so that rows have them whatever their number. cuBLASLt does not promise one order of algorithms that do
// not split K: results are compared, of numbers whose sums are rounded.
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

// rows runs a product and returns rows of its result, orderRows or all. C holds equal numbers before each run, for a
// product that adds.
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
