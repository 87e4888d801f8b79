package reference

import "testing"

func TestInRows(t *testing.T) {
	for _, c := range [][2]int{{0, 5}, {1, 1 << 20}, {7, 1}, {7, 1 << 20}, {1 << 18, 1}} {
		seen := make([]int, c[0])
		inRows(c[0], c[1], func(first, end int) {
			for i := first; i < end; i++ {
				seen[i]++
			}
		})
		for i, n := range seen {
			if n != 1 {
				t.Errorf("row %d of %d, each of work %d, is done %d times", i, c[0], c[1], n)
			}
		}
	}
}

func TestMultiply(t *testing.T) {
	const n = 5
	for k := range 13 {
		var a, b []float64
		want, got := make([]float64, n), make([]float64, n)
		for i := range k {
			a = append(a, float64(i%3)*1.1) // each third is left out
			for j := range n {
				b = append(b, 1/float64(3+i*n+j))
				want[j] += a[i] * b[i*n+j]
			}
		}
		multiply(got, a, b)
		for j := range n {
			if got[j] != want[j] {
				t.Errorf("element %d of a product over %d is %g, want %g, in the order of K", j, k, got[j], want[j])
			}
		}
	}
}
