package memory

import (
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Text describes the memory in a few lines for people.
func Text(m plan.Memory) string {
	var buffers []string
	for _, f := range m.Buffers {
		buffers = append(buffers, f.Name+" "+Size(f.Bytes))
	}
	var b strings.Builder
	row := func(what string, bytes int64, remark string) {
		fmt.Fprintf(&b, "%-12s %10s  %s\n", what, Size(bytes), remark)
	}
	b.WriteString("device memory of a rank, at most:\n")
	row("buffers", m.Caller(), "the caller's: "+strings.Join(buffers, ", "))
	keeps := fmt.Sprintf("%d words", m.Words)
	if m.Packets > 0 {
		keeps = Size(m.Packets) + " for packets"
	}
	row("arena", m.Arena(), fmt.Sprintf("the least of a group with this plan alone: it stages %s and keeps %s",
		Size(m.Staging), keeps))
	streams := "no stream runs products"
	switch {
	case m.Workspaces == 1:
		streams = "one stream runs products"
	case m.Workspaces > 1:
		streams = fmt.Sprintf("%d streams run products, with %s each", m.Workspaces, Size(driver.WorkspaceBytes))
	}
	row("workspaces", m.Workspace(), streams)
	row("tuning", m.Tuning, "while New tunes products on a GPU")
	return b.String()
}

// Size is a number of bytes in a unit for people.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
