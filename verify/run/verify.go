package run

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/verify/harness"
)

// verified says how far verify has come.
type verified struct {
	Next   int     // the next program
	Failed failure // of the program before, if it failed
	rows   []row
	line   string // the format of rows
	failed []failure
}

// failure is a program that could not be verified.
type failure struct {
	Program string `json:"program"`
	Error   string `json:"error"`
}

// verifyCommand runs every program in every type, shape and mode, and prints the table. Where one of several programs
// fails, the ranks leave the group and join another group for the remaining programs. The failure of a single program
// is an error.
type verifyCommand struct {
	running
	disturbing
	iters int
	json  bool
}

func (c *verifyCommand) bind(f *flag.FlagSet) {
	c.name = "verify"
	c.running.bind(f)
	f.IntVar(&c.hosts, "hosts", 1, "")
	f.UintVar(&c.seed, "seed", 1, "")
	f.IntVar(&c.iters, "iters", 0, "")
	f.BoolVar(&c.json, "json", false, "")
	c.disturbing.bind(f)
}

func (c *verifyCommand) settle(f *flag.FlagSet, names []string, programs []harness.Program) error {
	var own error
	if c.iters < 0 {
		own = errIters
	}
	if err := c.running.settle(f, names, programs, own); err != nil {
		return err
	}
	c.filters = c.delays
	return errors.Join(c.taken(), c.fit(c.shapes))
}

func (c *verifyCommand) run(code *driver.Code) int {
	return c.start(func(ctx context.Context, s *seat) (right bool, err error) {
		done := &verified{}
		for {
			r, err := c.join(ctx, s, code)
			if err != nil {
				return false, err
			}
			c.delay(r)
			again, err := c.rest(ctx, r, done)
			if err = errors.Join(err, r.close(ctx)); err != nil || !again {
				return c.report(r, done) && err == nil, err
			}
		}
	})
}

// runs is the number of runs of a shape, each of which is compared with products that are made separately.
func (c *verifyCommand) runs(programs int) int {
	iters := 5
	if c.iters > 0 {
		iters = min(c.iters, iters)
	}
	return programs * 2 * (2*iters + 1)
}

// rest goes on with the programs until one of several fails.
func (c *verifyCommand) rest(ctx context.Context, r *rank, done *verified) (again bool, err error) {
	defer r.shown.clear()
	if done.Next > 0 {
		err = r.agree(ctx, done)
	} else {
		c.greet(r, false, c.json)
		err = c.affordable(r, c.arguments, c.runs)
	}
	if err != nil {
		return false, err
	}
	for done.Next < len(c.programs) {
		p := &c.programs[done.Next]
		done.Next++
		if err := c.verifyProgram(ctx, r, p, done); err != nil {
			if len(c.programs) == 1 {
				return false, err
			}
			done.Failed = failure{p.Name, err.Error()}
			return true, nil
		}
	}
	if len(done.rows) == 0 && len(done.failed) == 0 {
		return false, errors.New("nothing to verify: no program takes these types")
	}
	return false, nil
}

// agree tells the ranks, in a new group, which programs have failed on any rank, and how far each rank has come.
func (r *rank) agree(ctx context.Context, done *verified) error {
	mine, err := json.Marshal(done)
	if err != nil {
		return err
	}
	all, err := r.Gather(ctx, "go on with the next program", mine)
	if err != nil {
		return err
	}
	for _, b := range all {
		var x verified
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
		known := func(f failure) bool { return f.Program == x.Failed.Program }
		if x.Failed.Program != "" && !slices.ContainsFunc(done.failed, known) {
			done.failed = append(done.failed, x.Failed)
		}
		done.Next = max(done.Next, x.Next)
	}
	done.Failed = failure{}
	return nil
}

// verifyProgram verifies one program, and adds its rows.
func (c *verifyCommand) verifyProgram(ctx context.Context, r *rank, p *harness.Program, done *verified) error {
	for _, typ := range c.typesOf(p) {
		for _, s := range c.shapesOf(p, typ, r.onGPU()) {
			if err := c.verifyShape(ctx, r, p, s, done); err != nil {
				return fmt.Errorf("verify %s, %s %s: %w", p.Name, s, s.Type, err)
			}
		}
	}
	return nil
}

// checker verifies one shape of one program.
type checker struct {
	*harness.Wanted
	*verifyCommand
	runner
	done  *verified
	tiles string // the kernel of tiles that the plan was told to take
}

// verifyShape verifies one shape, with each kernel of tiles that a launch could take.
func (v *verifyCommand) verifyShape(ctx context.Context, r *rank, p *harness.Program, s harness.Shape,
	done *verified) (err error) {
	t, err := r.Tensors(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Free()) }()
	w, err := t.Wanted()
	if err != nil {
		return err
	}
	plan, err := t.Plan(ctx, p)
	if err != nil {
		return err
	}
	c := &checker{Wanted: w, verifyCommand: v, runner: runner{r: r, plan: plan}, done: done}
	names := tilesOf(plan)
	if len(names) == 0 {
		err = c.patterns(ctx)
	}
	err = errors.Join(err, r.ClosePlan(ctx, plan))
	for _, name := range names {
		if err != nil {
			return err
		}
		if c.plan, err = t.Plan(ctx, taking(p, name)); err != nil {
			return err
		}
		c.tiles = name
		err = errors.Join(c.patterns(ctx), r.ClosePlan(ctx, c.plan))
	}
	return err
}

// modes lists the modes of the runs of a program.
func (c *checker) modes() []string {
	modes := []string{modeEager, modeReplayed, modeCaptured}
	if c.Program.Eager {
		modes = []string{modeEager, modeOwn}
	}
	if c.tiles != "" {
		modes = append(modes, modeRow)
	}
	if c.Small() && !c.Copies() { // copies take reals anyway
		modes = append(modes, modeReal)
	}
	return modes
}

// patterns verifies the plan with each pattern of counts.
func (c *checker) patterns(ctx context.Context) error {
	for i, counts := range c.Program.Patterns(c.Shape, c.r.Size()) {
		if i > 0 {
			if err := c.Recount(ctx, c.plan, counts.Counts); err != nil {
				return fmt.Errorf("%s: %w", counts.Name, err)
			}
		}
		for _, mode := range c.modes() {
			one, err := c.mode(ctx, mode)
			if err != nil {
				return fmt.Errorf("%s: %w", strings.TrimSuffix(mode+", "+counts.Name, ", "), err)
			}
			one.Parts = counts.Name
			c.print(c.r, one, c.done)
		}
	}
	return nil
}

// mode makes the runs of one mode and gathers the results of the ranks.
func (c *checker) mode(ctx context.Context, mode string) (made row, err error) {
	if err := c.capture(mode); err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, c.release()) }()
	runs := c.iters
	switch {
	case mode == modeReal:
		runs = 1
	case runs == 0 && c.r.onGPU():
		runs = 50
	case runs == 0:
		runs = 5
	}
	if mode == modeRow {
		first, err := c.row(uint32(runs))
		if err != nil {
			return row{}, err
		}
		return c.gather(ctx, mode, runs, first)
	}
	var first *harness.Mismatch
	for i := range runs {
		c.r.shown.show("%s %s %s %s: run %d of %d", byTiles(c.Program.Name, c.tiles), c.Shape, c.Shape.Type,
			mode, i+1, runs)
		m, err := c.run(ctx, mode, uint32(i))
		if err != nil {
			return row{}, fmt.Errorf("run %d: %w", i+1, err)
		}
		if first == nil && m != nil {
			m.Rank, m.Run, first = c.r.Rank(), i+1, m
		}
	}
	return c.gather(ctx, mode, runs, first)
}

// draws numbers the modes whose runs take different inputs.
var draws = map[string]uint32{modeReplayed: 1, modeOwn: 1, modeCaptured: 2, modeRow: 3}

// run makes one run with fresh inputs and poisoned outputs, and judges it.
func (c *checker) run(ctx context.Context, mode string, i uint32) (*harness.Mismatch, error) {
	i += draws[mode] << 20
	s := c.r.Caller.Handle()
	in := c.Inputs(i, mode == modeReal)
	if err := errors.Join(c.Spoil(s), c.Fill(in, s), c.disturb(c.r, i, s)); err != nil {
		return nil, err
	}
	if err := c.start(ctx, mode, s); err != nil {
		return nil, err
	}
	if mode == modeReal {
		return c.Near(in)
	}
	return c.Equal(in, s)
}
