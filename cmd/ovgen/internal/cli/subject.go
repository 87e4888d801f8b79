package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/load"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
)

// subject is a schedule of the package, with its program and proof once they are made.
type subject struct {
	*load.Declaration
	input    emit.Input    // the program, and its proof
	explored []int         // the numbers of ranks for which the explorer agrees with the proof
	wrong    load.Mistakes // the mistakes of the schedule; a schedule with mistakes goes no further
}

// subjects are all schedules of a package, by position, and the package's other mistakes.
type subjects struct {
	list []*subject
	rest load.Mistakes
}

// lower loads the package that the last argument names and lowers each schedule that can
// have a package.
func (c *call) lower(dir string) (*subjects, error) {
	pkg, err := load.Load(c.ctx, load.Config{Dir: c.env.Dir, Env: c.env.Vars, Pattern: c.args[len(c.args)-1],
		Output: dir})
	if err != nil {
		return nil, err
	}
	s := &subjects{rest: pkg.Mistakes}
	packages := map[string]*load.Declaration{}
	for _, d := range pkg.Declarations {
		x := &subject{Declaration: d}
		s.list = append(s.list, x)
		if other := packages[emit.PackageName(d.Name)]; other != nil {
			x.blame(fmt.Errorf("it and %s at %s would both be package %s (rename one)", other.Name, other.Pos,
				emit.PackageName(d.Name)))
		} else {
			packages[emit.PackageName(d.Name)] = d
		}
		x.blame(load.Guarded(func() error {
			p, err := lower.Lower(d.Name, d.Schedule)
			if err != nil {
				return err
			}
			own, err := x.own()
			if err != nil {
				return err
			}
			x.input = emit.Input{Program: p, Doc: d.Doc, Own: own}
			return d.Schedule.AsDeclared(errors.Join(emit.CheckNames(x.input), emit.CheckCalls(x.input)))
		}))
	}
	s.checkFamilies()
	return s, nil
}

// checkFamilies blames good schedules that package tuned can't have together.
func (s *subjects) checkFamilies() {
	var inputs []emit.Input
	for _, x := range s.good() {
		inputs = append(inputs, x.input)
	}
	for _, err := range flatten(emit.CheckFamilies(inputs)) {
		for _, x := range s.list {
			if strings.HasPrefix(err.Error(), "schedule "+x.Name+": ") {
				x.blame(errors.Unwrap(err))
			}
		}
	}
}

// verdict is the proof in a line, with the numbers of ranks for which the explorer agrees.
func (x *subject) verdict() string {
	if len(x.explored) == 0 {
		return x.input.Proof.String() + ", too large to explore"
	}
	return fmt.Sprintf("%s, explored for D = %s", x.input.Proof, prove.Ranges(x.explored))
}

// agreement is a sentence for gen: the numbers of ranks for which the explorer agrees with the proofs, and of how many
// schedules.
func (s *subjects) agreement() string {
	count := map[string]int{}
	for _, x := range s.list {
		text := "none"
		if len(x.explored) > 0 {
			text = "D = " + prove.Ranges(x.explored)
		}
		count[text]++
	}
	var parts []string
	for _, text := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%s of %d", text, count[text]))
	}
	return fmt.Sprintf("%d proven; explored: %s", len(s.list), strings.Join(parts, ", "))
}

// blame notes an error as the schedule's.
func (x *subject) blame(err error) {
	if err != nil {
		x.wrong = append(x.wrong, x.Mistake(err)...)
	}
}

// good are the subjects without mistakes.
func (s *subjects) good() []*subject {
	return slices.DeleteFunc(slices.Clone(s.list), func(x *subject) bool { return len(x.wrong) > 0 })
}

// inputs of the emitter.
func (s *subjects) inputs() (list []emit.Input) {
	for _, x := range s.list {
		list = append(list, x.input)
	}
	return list
}

// mistakes returns the mistakes of the package and of all schedules.
func (s *subjects) mistakes() load.Mistakes {
	all := slices.Clone(s.rest)
	for _, x := range s.list {
		all = append(all, x.wrong...)
	}
	return all
}

// blame ties an error of the emitter, "schedule NAME: ...", to the declaration of the schedule; an error of no schedule
// stays trouble.
func (s *subjects) blame(err error) error {
	var all load.Mistakes
	for _, e := range flatten(err) {
		found := false
		for _, x := range s.list {
			if text, ok := strings.CutPrefix(e.Error(), "schedule "+x.Name+": "); ok {
				found = true
				inner := errors.Unwrap(e)
				if inner == nil {
					inner = errors.New(text)
				}
				all = append(all, x.Mistake(inner)...)
			}
		}
		if !found {
			return err
		}
	}
	return all.Err()
}
