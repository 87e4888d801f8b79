package templates

import (
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
)

// Tile is a kernels.Tile with the operands of its instruction, as text of PTX and of C++.
type Tile struct{ kernels.Tile }

// Threads of a block that makes tiles.
func (k Kernel) Threads() int { return kernels.TileThreads }

// line is how many operands a line of text has.
const line = 8

// Accumulators are those of a thread: the first operands of the instruction.
func (t Tile) Accumulators() int { return t.Columns / 2 }

// Behind is the operand after the next.
func (t Tile) Behind() int { return t.Accumulators() + 1 }

// Registers are the accumulators as lines of PTX: "%0, %1, ".
func (t Tile) Registers() []string {
	lines := t.lines(func(i int) string { return fmt.Sprintf("%%%d", i) })
	for i := range len(lines) - 1 {
		lines[i] += ", "
	}
	return lines
}

// Operands are the accumulators as lines of C++, without the commas between lines: `"+f"(d[0]), "+f"(d[1])`.
func (t Tile) Operands() []string {
	return t.lines(func(i int) string { return fmt.Sprintf(`"+f"(d[%d])`, i) })
}

func (t Tile) lines(of func(i int) string) (lines []string) {
	for first := 0; first < t.Accumulators(); first += line {
		var list []string
		for i := first; i < min(first+line, t.Accumulators()); i++ {
			list = append(list, of(i))
		}
		lines = append(lines, strings.Join(list, ", "))
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

// Fewer and More are the registers of a thread that copies and of one that multiplies. Each block has one warpgroup of
// the former and two of the latter, and got 168 a thread at its start.
func (t Tile) Fewer() int { return 40 }
func (t Tile) More() int  { return 232 }

// Paces says that tiles leave for a peer box by box while others are made. All boxes of one take about half of the
// time in which the next is made (two H200s, 8B's second layer at 1024 and 2048 rows: .90 and .95 of cuBLASLt's
// product, .86 and .91 without).
func (k Kernel) Paces() bool { return k.Scatters() && !k.Kernel.Tile.Together }

// BiasAhead says that a thread has registers for the bias of its columns beside its accumulators.
func (k Kernel) BiasAhead() bool {
	return !k.Scatters() && (k.Kernel.Tile.Together || k.Kernel.Tile.Columns <= 160)
}
