package templates

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
)

// Tiling is one of the kernels that share the code of a product: its name and its tile.
type Tiling struct {
	kernels.Tile
	Name string // in PTX, without the element type
}

// tilings are the kernels of a table that differ from the kernel k only in their tiles.
func tilings(t kernels.Table, k kernels.Kernel) (list []Tiling) {
	if !k.Multiplies() {
		return nil
	}
	for _, o := range t.Alike(k) {
		list = append(list, Tiling{o.Tile, o.Base()})
	}
	return list
}

// first is the name of the kernel that has this kernel's code and struct.
func (k Kernel) first() string {
	if len(k.Tilings) == 0 {
		return k.Name
	}
	return k.Tilings[0].Name
}

// Threads of a block that makes tiles.
func (k Kernel) Threads() int { return kernels.TileThreads }

// any reports whether is holds for at least one of the kernel's tiles.
func (k Kernel) any(is func(Tiling) bool) bool { return slices.ContainsFunc(k.Tilings, is) }

// Clustered and Alone report whether clusters of blocks, or single blocks, make some of the tiles; Together and InTurn
// whether both warpgroups make a tile together, or each makes whole tiles in turn.
func (k Kernel) Clustered() bool { return k.any(func(t Tiling) bool { return t.Cluster > 1 }) }
func (k Kernel) Alone() bool     { return k.any(func(t Tiling) bool { return t.Cluster == 1 }) }
func (k Kernel) Together() bool  { return k.any(func(t Tiling) bool { return t.Tile.Together }) }
func (k Kernel) InTurn() bool    { return k.any(func(t Tiling) bool { return !t.Tile.Together }) }

// Product is an instruction of the tensor cores, which multiplies 64 rows by a number of columns.
type Product struct{ Columns int }

// Products are the products of the kernel's tiles.
func (k Kernel) Products() (list []Product) {
	for _, t := range k.Tilings {
		if p := (Product{t.Columns}); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// Numbers counts the results that a thread makes: the first operands of the instruction.
func (p Product) Numbers() int { return p.Columns / 2 }

// Behind is the number of the operand after the next one.
func (p Product) Behind() int { return p.Numbers() + 1 }

// Registers are the numbers of the results as lines of PTX: "%0, %1".
func (p Product) Registers() []string {
	return lines(p.Numbers(), 16, func(i int) string { return fmt.Sprintf("%%%d", i) })
}

// Operands are the numbers of the results as lines of C++: "EIGHT(d, 0), EIGHT(d, 8)".
func (p Product) Operands() []string {
	each := 8
	if p.Numbers() > 120 {
		each = 6 // of numbers of three digits
	}
	return lines(p.Numbers()/8, each, func(i int) string { return fmt.Sprintf("EIGHT(d, %d)", 8*i) })
}

// lines are n texts, each of them in a line, separated by commas.
func lines(n, each int, text func(i int) string) (lines []string) {
	for i := range n {
		if i%each == 0 {
			lines = append(lines, text(i))
		} else {
			lines[len(lines)-1] += ", " + text(i)
		}
	}
	return lines
}

// mma is the type's name in instructions of the tensor cores.
func mma(t driver.Type) (string, error) {
	switch t {
	case driver.BF16:
		return "bf16", nil
	case driver.FP16:
		return "f16", nil
	}
	return "", fmt.Errorf("tiles are made of bf16 and fp16, not of %s", t)
}
