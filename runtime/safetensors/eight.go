package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ovgen/runtime/device"
)

// A weight of eight bits, e4m3, has scales that multiply it: one for each of its rows, or one for each square of rows
// and columns. A checkpoint has the scales in a second tensor: one for each row, one for the whole weight, or one for
// each square. For a weight of more bits, the reader makes the scales of rows from whole rows: so ranks that have
// columns of a row have the same scale.

// ScalesOf is the name of the tensor with a weight's scales of rows, or its one scale; squaresOf with its scales of
// squares.
func ScalesOf(weight string) string  { return weight + "_scale" }
func squaresOf(weight string) string { return weight + "_scale_inv" }

// largest is e4m3's greatest number.
const largest = 448

// checkEight returns the reason why a tensor can't be read as e4m3 with scales.
func (t Tensors) checkEight(p Part, s Tensor) error {
	if p.Square > 0 {
		return t.checkSquares(p, s)
	}
	scales, ok := t[ScalesOf(p.Name)]
	_, blocks := t[squaresOf(p.Name)]
	switch n := p.Shape[0]; {
	case s.Type != "F8_E4M3" && (!p.Quantise || forms[s.Type].size == 0):
		return fmt.Errorf("tensor %s: its type is %s, and F8_E4M3 is wanted", p.Name, s.Type)
	case s.Type != "F8_E4M3":
		return nil
	case !ok && blocks:
		return fmt.Errorf("tensor %s_scale_inv: it has scales of blocks, and scales of rows or one are wanted", p.Name)
	case !ok:
		return fmt.Errorf("tensor %s: it is not in the checkpoint, and %s is F8_E4M3", ScalesOf(p.Name), p.Name)
	case !one(scales) && !slices.Equal(scales.Shape, []int{n}) && !slices.Equal(scales.Shape, []int{n, 1}):
		return fmt.Errorf("tensor %s: its shape is %v, and [%d], [%d 1] or one number is wanted", ScalesOf(p.Name),
			scales.Shape, n, n)
	case forms[scales.Type].size == 0:
		return fmt.Errorf("tensor %s: its type is %s, and F32, BF16 or F16 is wanted", ScalesOf(p.Name), scales.Type)
	}
	return nil
}

// checkSquares is checkEight for scales of squares. A part must have whole squares along the axis that it is cut along:
// no scale belongs to half of a square.
func (t Tensors) checkSquares(p Part, s Tensor) error {
	of := []string{"rows", "columns"}[p.Axis]
	switch {
	case s.Type != "F8_E4M3":
		return fmt.Errorf("tensor %s: its type is %s, and F8_E4M3 is wanted", p.Name, s.Type)
	case p.Count != p.Shape[p.Axis] && (p.From%p.Square != 0 || p.Count%p.Square != 0):
		return fmt.Errorf("tensor %s: %d %s from %d on are no whole squares of %d, which have one scale each (cut its "+
			"%d %s at multiples of %d)", p.Name, p.Count, of, p.From, p.Square, p.Shape[p.Axis], of, p.Square)
	}
	return t.Check(p.squares())
}

// squares is the part of the tensor of scales for the part's squares.
func (p Part) squares() Part {
	count := func(n int) int { return (n + p.Square - 1) / p.Square }
	return Part{Name: squaresOf(p.Name), Shape: []int{count(p.Shape[0]), count(p.Shape[1])}, Axis: p.Axis,
		From: p.From / p.Square, Count: count(p.Count), Type: device.FP32}
}

// one reports whether a tensor is a single number.
func one(s Tensor) bool {
	return !slices.ContainsFunc(s.Shape, func(n int) bool { return n != 1 })
}

// rows is the range of the weight's rows of which the part has elements.
func (p Part) rows() (from, count int) {
	if p.Axis == 1 {
		return 0, p.Shape[0]
	}
	return p.From, p.Count
}

// ScaleBytes is the size of the scales of a part of Type E4M3.
func (p Part) ScaleBytes() int64 {
	if p.Square > 0 {
		return p.squares().Bytes()
	}
	_, count := p.rows()
	return device.FP32.Bytes(count)
}

// Scales reads the scales of a part of Type E4M3, in fp32: one for each row of which the part has elements, or one for
// each of its squares.
func (t Tensors) Scales(p Part) (made []byte, err error) {
	if err := t.Check(p); err != nil {
		return nil, err
	}
	if p.Square > 0 {
		return t.scalesOf(p.squares())
	}
	add := func(_ []float32, scale float32) {
		made = binary.LittleEndian.AppendUint32(made, math.Float32bits(scale))
	}
	if t[p.Name].Type != "F8_E4M3" {
		return made, t.quantised(p, add)
	}
	name, from, count := ScalesOf(p.Name), 0, 0
	from, count = p.rows()
	s := t[name]
	if s.Shape = append(s.Shape, 1)[:max(1, len(s.Shape))]; one(s) {
		from, count = 0, 1
	}
	made, err = Tensors{name: s}.scalesOf(Part{Name: name, Shape: s.Shape, From: from, Count: count, Type: device.FP32})
	if _, rows := p.rows(); count < rows {
		made = slices.Repeat(made, rows)
	}
	return made, err
}

// scalesOf reads scales, and refuses numbers that are no scales.
func (t Tensors) scalesOf(p Part) ([]byte, error) {
	made, err := t.Read(p)
	list := make([]float32, len(made)/4)
	forms["F32"].widen(list, made)
	for i, x := range list {
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return nil, fmt.Errorf("tensor %s: the scale of %s is %g (a scale is a number, 0 or above)", p.Name,
				p.place(i), x)
		}
	}
	return made, err
}

// place names the row or the square that has scale i of a part of scales.
func (p Part) place(i int) string {
	_, each := p.runs()
	if p.Axis == 1 {
		return fmt.Sprintf("square %d, %d", i/p.Count, p.From+i%p.Count)
	}
	if i += p.From * each; each == 1 {
		return fmt.Sprintf("row %d", i)
	}
	return fmt.Sprintf("square %d, %d", i/each, i%each)
}

// codes reads a part as e4m3 where the tensor has another type.
func (t Tensors) codes(p Part) (made []byte, err error) {
	return made, t.quantised(p, func(row []float32, scale float32) {
		if p.Axis == 1 {
			row = row[p.From : p.From+p.Count]
		}
		for _, x := range row {
			made = append(made, e4m3(x/scale))
		}
	})
}

// quantised calls each with every row of which a part has elements. It passes the whole row and its scale, by which the
// row's greatest finite magnitude becomes e4m3's greatest number.
func (t Tensors) quantised(p Part, each func(row []float32, scale float32)) error {
	const atOnce = 64
	from, count := p.rows()
	for i := 0; i < count; i += atOnce {
		n := min(atOnce, count-i)
		list, err := t.floats(Part{Name: p.Name, Shape: p.Shape, From: from + i, Count: n})
		if err != nil {
			return err
		}
		for row := range slices.Chunk(list, max(len(list)/n, 1)) {
			scale := float32(0)
			for _, x := range row {
				if x = float32(math.Abs(float64(x))); x > scale && !math.IsInf(float64(x), 0) {
					scale = x
				}
			}
			if scale /= largest; scale == 0 {
				scale = 1
			}
			each(row, scale)
		}
	}
	return nil
}

// floats reads a part as numbers of fp32.
func (t Tensors) floats(p Part) ([]float32, error) {
	p.Type = device.FP32
	raw, err := t.Read(p)
	list := make([]float32, len(raw)/4)
	forms["F32"].widen(list, raw)
	return list, err
}

// e4m3 rounds to the nearest number of e4m3, ties to even. Numbers that are too large become the greatest number, and a
// NaN stays a NaN.
func e4m3(x float32) byte {
	const drop, bias, one = 20, 120, 1 << 23 // digits of an fp32 beyond e4m3's, and the exponent
	b := math.Float32bits(x)
	sign, b := byte(b>>24&0x80), b&^signBit
	switch {
	case b > infinity:
		return 0x7f
	case b >= math.Float32bits(largest):
		return sign | 0x7e
	case b < (bias+1)*one: // below 2^-6: a subnormal counts in steps of 2^-9, as an fp32 from 2^14 to 2^15 does
		return sign | byte(math.Float32bits(math.Float32frombits(b)+0x1p14)-math.Float32bits(0x1p14))
	}
	b -= bias * one
	return sign | byte((b+1<<(drop-1)-1+b>>drop&1)>>drop)
}
