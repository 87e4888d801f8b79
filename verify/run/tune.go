package run

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/tuning"
	"ovgen/schedule"
	"ovgen/verify/harness"
)

// families groups the programs that compute the same from the same buffers. A family has the name of its first program,
// as in package tuned. Programs of schedules that teach are left out.
func families(programs []harness.Program) [][]*harness.Program {
	var list []*harness.Program
	for i := range programs {
		if !programs[i].Schedule.Teaches {
			list = append(list, &programs[i])
		}
	}
	slices.SortFunc(list, func(a, b *harness.Program) int {
		return cmp.Or(schedule.Last(a.Schedule, b.Schedule), strings.Compare(a.Name, b.Name))
	})
	return schedule.Families(list, func(p *harness.Program) schedule.Schedule {
		return p.Schedule
	})
}

// fitting are the programs of a family that take a shape, and that package tuned would take on these ranks: two sum in
// no two shots.
func fitting(family []*harness.Program, s harness.Shape, ranks int) []*harness.Program {
	return slices.DeleteFunc(slices.Clone(family), func(p *harness.Program) bool {
		twice := slices.ContainsFunc(p.Schedule.Moves, func(m schedule.Move) bool {
			return schedule.FactsOf(m.Way).TwoShots
		})
		return twice && ranks < tuning.LeastTwoShots && len(family) > 1 || p.Fits(s, ranks) != nil
	})
}

// operation names a program's computation as package tuned does: by the first program of its family among all programs
// of the binary, even where not all of them are measured.
func (c *tuneCommand) operation(p *harness.Program) string {
	for _, f := range families(c.all) {
		if slices.ContainsFunc(f, func(other *harness.Program) bool { return other.Name == p.Name }) {
			return f[0].Name
		}
	}
	return p.Name
}

// tuneCommand measures the schedules of each operation against each other, and writes the fastest for each shape into
// the file. A schedule by tiles is measured with each of its kernels, and left out where New says that they have other
// bits than the library, which its schedule does not allow.
type tuneCommand struct {
	running
	rounds
	all  []harness.Program // all programs of the binary
	json bool
	out  string
}

func (c *tuneCommand) bind(f *flag.FlagSet) {
	c.name = "tune"
	c.running.bind(f)
	c.rounds.bind(f)
	f.UintVar(&c.seed, "seed", 1, "")
	f.BoolVar(&c.json, "json", false, "")
	f.StringVar(&c.out, "o", "tuning.json", "")
}

// settle checks that at least one program of each operation takes each shape; tune leaves out the programs that do not.
func (c *tuneCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	c.all = programs
	if err := c.running.settle(f, names, programs, c.rounds.check()); err != nil {
		return err
	}
	for _, f := range families(c.programs) {
		for _, s := range c.shapes {
			if s = s.With(c.extents); len(fitting(f, s, c.ranks)) == 0 {
				return f[0].Fits(s, c.ranks)
			}
		}
	}
	return c.taken()
}

// mostTiles is the number of kernels of tiles that a plan has at most: for each form of a tile one that gathers, one
// that sums.
const mostTiles = 16

func (c *tuneCommand) run(code *driver.Code) int {
	for _, f := range families(c.programs) {
		tiled := slices.DeleteFunc(slices.Clone(f), func(p *harness.Program) bool { return !p.Tiled() })
		c.together = append(c.together, slices.Concat(f, slices.Repeat(tiled, mostTiles)))
	}
	return c.measure(code, measuring{json: c.json, groups: families(c.programs), do: c.tune,
		runs: func(programs int) int { return 2 * programs * c.few() }})
}

func (c *tuneCommand) tune(ctx context.Context, r *rank) error {
	table := &tuning.Table{}
	if have, err := tuning.Read(c.out); err == nil {
		table = have
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.Rank() == 0 && !c.json {
		fmt.Printf(tuneLine, "operation", "shape", "fastest", "mode", "ms", "ahead of")
	}
	for _, f := range families(c.programs) {
		for _, typ := range c.typesOf(f[0]) {
			for _, s := range c.shapesOf(f[0], typ, r.onGPU()) {
				if err := c.tuneShape(ctx, r, f, s, table); err != nil {
					return fmt.Errorf("tune %s, %s %s: %w", f[0].Name, s, s.Type, err)
				}
			}
		}
	}
	r.shown.clear()
	if r.Rank() != 0 {
		return nil
	}
	if err := table.Write(c.out); err != nil {
		return err
	}
	if !c.json {
		fmt.Printf("written to %s\n", c.out)
	}
	return nil
}

const tuneLine = "%-28s %-38s %-30s %-9s %8v  %s\n"

// tuneShape measures a family at one shape, without programs that the devices let nobody have, and puts the fastest
// into the table.
func (c *tuneCommand) tuneShape(ctx context.Context, r *rank, family []*harness.Program, s harness.Shape,
	table *tuning.Table) error {
	take := fitting(family, s, c.ranks)
	if len(take) == 0 {
		return family[0].Fits(s, c.ranks)
	}
	take, out, err := r.had(ctx, take, s)
	if err != nil {
		return err
	}
	for _, f := range out {
		switch {
		case r.Rank() != 0:
		case c.json:
			printJSON(f)
		default:
			fmt.Printf("%s is not to be had at %s %s: %s\n", f.Program, s, s.Type, f.Error)
		}
	}
	if len(take) == 0 {
		return nil
	}
	m, next, err := c.fastest(ctx, r, take, s)
	if err != nil {
		return err
	}
	table.Put(m)
	r.shown.clear()
	switch {
	case r.Rank() != 0:
	case c.json:
		printJSON(m)
	default:
		mode := variantEager
		if m.Replayed {
			mode = variantReplayed
		}
		fmt.Printf(tuneLine, m.Operation, m.Shape, byTiles(m.Program, m.Tiles), mode,
			fmt.Sprintf("%.4f", m.Milliseconds), next)
	}
	return nil
}

// byTiles names a program, with the kernel of tiles that it was told to take: "linearreducescattertiles/scatter2".
func byTiles(program, tiles string) string {
	if tiles != "" {
		program += "/" + tiles
	}
	return program
}

// fastest measures a family at one shape; next is the second fastest program, or kernel of tiles.
func (c *tuneCommand) fastest(ctx context.Context, r *rank, programs []*harness.Program,
	s harness.Shape) (m tuning.Measured, next string, err error) {
	l, err := r.newLab(ctx, programs, s)
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, l.free(ctx)) }()
	if err := l.addTiles(ctx); err != nil {
		return m, "", err
	}
	variants, err := l.variants(ctx, false)
	if err != nil {
		return m, "", err
	}
	var all []*series
	for _, v := range variants {
		if v.plan() && !l.estimates(v) {
			all = append(all, &series{variant: v})
		}
	}
	if all, err = l.measure(ctx, all, c.number()); err != nil {
		return m, "", err
	}
	list := l.figures(all)
	slices.SortStableFunc(list, func(a, b figure) int {
		if a.Median < b.Median {
			return -1
		}
		return 1
	})
	best := list[0]
	var beside []string
	for _, p := range programs {
		if p.Name != best.Program {
			beside = append(beside, p.Name)
		}
	}
	next = "nothing"
	for _, f := range list[1:] {
		if f.Program != best.Program || f.Tiles != best.Tiles {
			next = fmt.Sprintf("%s by %.1f %%", byTiles(f.Program, f.Tiles), 100*(f.Median/best.Median-1))
			break
		}
	}
	return tuning.Measured{Operation: c.operation(programs[0]), GPU: r.drv.Properties().Name, Ranks: r.Size(),
		Shape:   base(l.plans[0]).Shape(),
		Program: best.Program, Tiles: best.Tiles, Replayed: best.Variant == variantReplayed,
		Milliseconds: best.Median, Beside: beside}, next, nil
}
