package dump

import (
	"fmt"
	"strings"
)

// text is the dump of a bound plan, for a person.
func (b *bound) text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s, rank %d of %d: %s\n", b.Plan, b.Rank, b.Ranks, b.Shape)
	fmt.Fprintf(&t, "  program %s, %s\n", b.Hash, b.Proof)
	if b.Parts != nil {
		b.Parts.text(&t)
	}
	if b.Steps != nil {
		t.WriteString("  steps of a run:\n")
	}
	for _, s := range b.Steps {
		fmt.Fprintf(&t, "    %4d  %-10s %s\n", s.Number, s.Stream, s.Text)
	}
	if b.Enqueue != nil {
		t.WriteString("  calls of a run:\n")
	}
	for _, o := range b.Enqueue {
		fmt.Fprintf(&t, "    %4d  %-10s %s\n", o.Step, o.Stream, o.Call)
		for _, u := range o.Uses {
			fmt.Fprintf(&t, "                       %s\n", u)
		}
	}
	return t.String()
}

func (c *components) text(t *strings.Builder) {
	if c.Chosen != "" {
		fmt.Fprintf(t, "  chosen: %s\n", c.Chosen)
	}
	t.WriteString("  buffers, by rank:\n")
	for _, b := range c.Buffers {
		fmt.Fprintf(t, "    %-10s %s, %d bytes at %v\n", b.Name, b.Kind, b.Bytes, b.At)
	}
	if c.Semaphores != nil {
		t.WriteString("  semaphores, by rank:\n")
	}
	for _, s := range c.Semaphores {
		fmt.Fprintf(t, "    %-10s %d words at %v\n", s.Name, s.Words, s.At)
	}
	t.WriteString("  streams:\n")
	for _, s := range c.Streams {
		fmt.Fprintf(t, "    %-10s %s, priority %d, step word %s", s.Name, s.Handle, s.Priority, s.Step)
		if s.Workspace != 0 {
			fmt.Fprintf(t, ", workspace %s", s.Workspace)
		}
		t.WriteString("\n")
	}
	if c.Products != nil {
		t.WriteString("  products:\n")
	}
	for _, p := range c.Products {
		fmt.Fprintf(t, "    %s, algorithm %s\n", p.Product, p.Algorithm)
	}
	if c.Kernels != nil {
		fmt.Fprintf(t, "  kernels: %s\n", strings.Join(c.Kernels, ", "))
	}
}
