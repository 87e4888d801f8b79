package explore

import (
	"math"
	"math/bits"
)

// Number is an element of a tensor. Numbers are residues modulo a prime: their sums and
// products are exact in any order, and two different formulas agree on random inputs about
// once in 10^18 times.
type Number uint64

// prime is 2^61 - 1.
const prime = 1<<61 - 1

func plus(x, y Number) Number { return reduced(x + y) }

// reduced is the residue of a number below twice the prime.
func reduced(x Number) Number {
	if x >= prime {
		return x - prime
	}
	return x
}

// add is a sum with one more term. Rounded sums depend on the order of their terms: an ordered sum is a polynomial that
// has its terms as coefficients.
func add(sum, term Number, ordered bool) Number {
	if ordered {
		sum = times(sum, mixed(hashed("order")))
	}
	return plus(sum, term)
}

func times(x, y Number) Number {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	return reduced(Number(lo&prime + (hi<<3 | lo>>61))) // 2^61 is 1
}

// mixed is a pseudo-random number, the same each time.
func mixed(seed ...uint64) Number {
	h := uint64(0x9e3779b97f4a7c15)
	for _, s := range seed {
		h += s + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return Number(h % prime)
}

// hashed is a seed made of a text.
func hashed(text string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(text) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// applied stands for the result of the named function on x. No sum or product of numbers equals it.
func applied(function string, x Number) Number { return mixed(hashed(function), uint64(x)) }

// matrix is a list of numbers by row and column; transposed, by column and row.
type matrix struct {
	list       []Number
	columns    int
	transposed bool
}

func (m matrix) at(row, column int) Number {
	if m.transposed {
		row, column = column, row
	}
	return m.list[row*m.columns+column]
}

// multiply is x [m,k] times y [k,n], row by row.
func multiply(x, y matrix, m, k, n int) []Number {
	out := make([]Number, 0, m*n)
	for i := range m {
		for j := range n {
			sum := Number(0)
			for l := range k {
				sum = plus(sum, times(x.at(i, l), y.at(l, j)))
			}
			out = append(out, sum)
		}
	}
	return out
}

// product is a Product of the given form of operands x and y; its result has size elements. It is false where no
// extents fit the sizes.
func product(form string, x, y []Number, size int) ([]Number, bool) {
	rows, depth, columns, ok := extents(len(x), len(y), size)
	if !ok {
		return nil, false
	}
	switch form {
	case "matmul":
		return multiply(matrix{x, depth, false}, matrix{y, columns, false}, rows, depth, columns), true
	case "linear":
		return multiply(matrix{x, depth, false}, matrix{y, depth, true}, rows, depth, columns), true
	case "gradient":
		return multiply(matrix{x, rows, true}, matrix{y, columns, false}, rows, depth, columns), true
	}
	return nil, false
}

// extents are the rows, depth and columns of a product of x and y elements with a result of z elements; the three
// numbers determine them. It is false where no extents fit.
func extents(x, y, z int) (rows, depth, columns int, ok bool) {
	rows, ok1 := root(x*z, y)
	depth, ok2 := root(x*y, z)
	columns, ok3 := root(y*z, x)
	return rows, depth, columns, ok1 && ok2 && ok3 && rows*depth == x && depth*columns == y
}

// root is the square root of x/y where that is a whole number.
func root(x, y int) (int, bool) {
	if y == 0 || x%y != 0 {
		return 0, false
	}
	r := int(math.Round(math.Sqrt(float64(x / y))))
	return r, r > 0 && r*r == x/y
}
