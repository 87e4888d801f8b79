package group

import (
	"fmt"
	"strings"

	"ovgen/runtime/fabric"
)

// Fabric has the links between the ranks' devices, by rank, as all ranks know them.
func (g *Group) Fabric() fabric.Fabric { return g.fabric }

// Apart reports whether some ranks can't reach each other's memory, as Config.Apart allows.
func (g *Group) Apart() bool { return g.apart }

// FallsBack reports whether schedules by NCCL may stand in for others: Config.FallBack, or ranks that are apart.
func (g *Group) FallsBack() bool { return g.apart || g.config.FallBack }

// Ring reports whether each rank reaches the memory of the rank before it and of the rank after it.
func (g *Group) Ring() bool { return g.Hosts() == 1 && g.fabric.Ring() }

// Reaches reports whether this rank maps the memory of another one. It maps the memory of all ranks of its host. In a
// group of ranks that are apart it maps the rank before it and the rank after it, if all ranks reach both.
func (g *Group) Reaches(rank int) bool {
	if !g.apart || rank == g.Rank() {
		return g.beside(rank)
	}
	n := g.Size()
	return g.Ring() && (rank == (g.Rank()+1)%n || rank == (g.Rank()+n-1)%n)
}

// links describes the fabric and the limits that follow from it, for Choice.
func (g *Group) links(unreached *CheckError) string {
	var text []string
	if kind := g.fabric.Kind(); kind != fabric.Alone && kind != fabric.Apart {
		text = append(text, g.fabric.String())
	}
	if n := g.Hosts(); n > 1 {
		text = append(text, fmt.Sprintf("%d hosts of %d ranks", n, g.PerHost()))
	}
	if unreached != nil {
		plans := "plans by NCCL alone"
		if g.Ring() {
			plans = "plans by NCCL and by rings alone"
		}
		text = append(text, fmt.Sprintf("%s, since rank %d can't map rank %d's memory", plans, unreached.Ranks[0],
			unreached.Ranks[1]))
	}
	if len(text) == 0 {
		return ""
	}
	return "; " + strings.Join(text, "; ")
}
