package plan

import (
	"fmt"
	"slices"
)

// Tiles declares kernels of a product that differ only in their tiles: a launch takes one of them.
func (b *Builder) Tiles(kernels ...string) { b.plan.tiles = append(b.plan.tiles, kernels...) }

// Tiles are the kernels of a product among which each launch chooses by an estimate; none where there is no choice.
func (p *Plan) Tiles() []string { return slices.Clone(p.tiles) }

// UseTiles makes launches take the given kernel, which is one of Tiles, instead of choosing by the estimate. Launches
// of products that the kernel does not make still choose: a plan may pull rows with one kernel and sum with another.
// Call UseTiles before the first Bind, which captures the plan's graph. Ranks may take different kernels: they signal
// each other by shards, not by tiles.
func (p *Plan) UseTiles(kernel string) error {
	if !slices.Contains(p.tiles, kernel) {
		return &UnknownTilesError{p.program.Name, kernel, p.Tiles()}
	}
	if p.bound {
		return fmt.Errorf("use tiles of %s: the plan is bound (choose between New and Bind)", p.program.Name)
	}
	p.tile = kernel
	return nil
}

// UnknownTilesError says that a program has no kernel of tiles with that name.
type UnknownTilesError struct {
	Program, Kernel string
	Known           []string
}

// Error names the remedy.
func (e *UnknownTilesError) Error() string {
	return fmt.Sprintf("use tiles of %s: no kernel %q among %q (tune again with this binary)", e.Program, e.Kernel,
		e.Known)
}

// Tiles is the kernel that launches of tiles take; empty where an estimate chooses.
func (q *Queue) Tiles() string { return q.plan.tile }
