package templates

import (
	"math"
	"slices"

	"ovgen/runtime/driver"
	s "ovgen/schedule"
	"ovgen/verify/reference"
)

// eval is what each of the nodes makes of a job's tensors before its launch, of all elements.
func (w written) eval(j *job) [][]float32 {
	values := make([][]float32, len(w.nodes))
	for i, n := range w.nodes {
		values[i] = make([]float32, j.rows*j.columns)
		if n.Do == s.DoSum || n.Do == s.DoMean || n.Do == s.DoMost {
			wide := j.columns
			if n.Group != "" {
				wide = j.heads[slices.Index(w.heads, n.Group)]
			}
			for at := 0; at < len(values[i]); at += wide {
				x := joined(n.Do, values[n.Of[0]][at:at+wide])
				for k := range wide {
					values[i][at+k] = x
				}
			}
			continue
		}
		for at := range values[i] {
			values[i][at] = w.node(j, n, values, at)
		}
	}
	return values
}

// node is what a node makes of element at.
func (w written) node(j *job, n s.Node, values [][]float32, at int) float32 {
	row, column, wide, half := at/j.columns, at%j.columns, 0, 0
	if n.Group != "" {
		wide = j.heads[slices.Index(w.heads, n.Group)]
		half = wide / 2
		column %= wide
	}
	operand := func(i int) float32 {
		k := slices.IndexFunc(w.operands, func(o s.Operand) bool { return o.Tensor == n.Tensor })
		return j.tensors[2+k].at(i)
	}
	switch n.Do {
	case s.DoX:
		return j.tensors[1].at(at)
	case s.DoNumber:
		return float32(n.Number)
	case s.DoParam:
		return float32(j.numbers[slices.Index(w.params, n.Name)])
	case s.DoOf:
		return operand(at)
	case s.DoRow, s.DoHeadRow:
		return operand(column)
	case s.DoColumn:
		return operand(row)
	case s.DoCos:
		return operand(row*wide + column%half)
	case s.DoSin:
		return operand(row*wide + half + column%half)
	case s.DoPairCos:
		return operand(row*wide + column/2)
	case s.DoPairSin:
		return operand(row*wide + half + column/2)
	case s.DoTurn:
		if column < half {
			return -values[n.Of[0]][at+half]
		}
		return values[n.Of[0]][at-half]
	case s.DoPairs:
		if column%2 == 0 {
			return -values[n.Of[0]][at+1]
		}
		return values[n.Of[0]][at-1]
	case s.DoBelow:
		if float64(column) < n.Number {
			return values[n.Of[0]][at]
		}
		return values[n.Of[1]][at]
	}
	a, b := values[n.Of[0]][at], float32(0)
	if len(n.Of) > 1 {
		b = values[n.Of[1]][at]
	}
	return operate(n.Do, a, b)
}

// operate is an operation of fp32.
func operate(do s.Do, a, b float32) float32 {
	double := map[s.Do]func(float64) float64{s.DoExp: math.Exp, s.DoTanh: math.Tanh, s.DoErf: math.Erf,
		s.DoLog:  math.Log,
		s.DoRoot: math.Sqrt, s.DoAbs: math.Abs}
	switch do {
	case s.DoPlus:
		return a + b
	case s.DoMinus:
		return a - b
	case s.DoTimes:
		return float32(a * b)
	case s.DoOver:
		return a / b
	case s.DoGreatest:
		if a > b {
			return a
		}
		return b
	case s.DoLeast:
		if a < b {
			return a
		}
		return b
	case s.DoNeg:
		return -a
	case s.DoFinite:
		if a-a != 0 {
			return 0
		}
		return a
	case s.DoPower:
		power := float32(0x1p-126)
		for !(power >= float32(math.Abs(float64(a)))) && power < 0x1p126 { // 2^126 of no number
			power *= 2
		}
		return power
	case s.DoUp, s.DoLoud:
		switch {
		case a != a:
			return a
		case do == s.DoLoud:
			return operate(s.DoPower, a, 0)
		}
		return upOf(float32(math.Abs(float64(a))))
	case s.DoRecipRoot:
		return 1 / float32(math.Sqrt(float64(a)))
	}
	return float32(double[do](float64(a)))
}

// joined is a statistic: lanes of units of eight, a power of 2 up to 512, and then halves.
func joined(do s.Do, x []float32) float32 {
	units := (len(x) + 7) / 8
	lanes := 1
	for lanes < min(units, 512) {
		lanes *= 2
	}
	join, list := s.DoPlus, make([]float32, lanes)
	for l := range list {
		if do == s.DoMost {
			join, list[l] = s.DoGreatest, float32(math.Inf(-1))
		}
		for u := l; u < units; u += lanes {
			for _, v := range x[8*u : min(8*u+8, len(x))] {
				list[l] = operate(join, list[l], v)
			}
		}
	}
	for n := lanes / 2; n > 0; n /= 2 {
		for l := range n {
			list[l] = operate(join, list[l], list[l+n])
		}
	}
	if do == s.DoMean {
		return list[0] / float32(len(x))
	}
	return list[0]
}

// upOf is the first number of e4m3 that is no less than a size, but for 0, or the last one.
func upOf(size float32) float32 {
	for code := byte(1); ; code++ {
		x, err := reference.Decode(driver.E4M3, []byte{code})
		if err != nil || x[0] >= size || x[0] == 448 {
			return x[0]
		}
	}
}
