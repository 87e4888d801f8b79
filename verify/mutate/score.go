package mutate

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"ovgen/schedule"
	"ovgen/schedule/lower"
)

// Score counts mutants by class.
type Score map[Class]int

// String is "412 mutants: 380 caught, 20 safe, 12 warned, 0 survivors".
func (s Score) String() string {
	return fmt.Sprintf("%d mutants: %d caught, %d safe, %d warned, %d survivors",
		s[Caught]+s[Safe]+s[Warned]+s[Survivor], s[Caught], s[Safe], s[Warned], s[Survivor])
}

// Add adds the counts of another score.
func (s Score) Add(other Score) {
	for class, n := range other {
		s[class] += n
	}
}

// Schedule judges all mutants of a schedule, in their order.
func Schedule(name string, s schedule.Schedule, prover Checker) ([]Judged, error) {
	p, err := lower.Lower(name, s)
	if err != nil {
		return nil, err
	}
	mutants, err := All(p)
	if err != nil {
		return nil, err
	}
	return Each(mutants, runtime.GOMAXPROCS(0), func(m Mutant) (Judged, error) { return Judge(m, prover) })
}

// Each calls f for all items of a list, atATime at once. It returns the results in the order of the list, zero where f
// failed, and the errors.
func Each[T, R any](list []T, atATime int, f func(T) (R, error)) ([]R, error) {
	results, errs := make([]R, len(list)), make([]error, len(list))
	var all sync.WaitGroup
	free := make(chan struct{}, atATime)
	for i, x := range list {
		free <- struct{}{}
		all.Go(func() {
			results[i], errs[i] = f(x)
			<-free
		})
	}
	all.Wait()
	return results, errors.Join(errs...)
}

// few is the number of reasons that show well enough why a mutant was not caught.
const few = 3

// Print writes one mutant a line, and adds it to the score. Its reasons follow if it was not caught, or if all is set.
func (s Score) Print(w io.Writer, list []Judged, all bool) {
	for _, j := range list {
		s[j.Class]++
		if j.Class == Caught && !all {
			fmt.Fprintf(w, "%-8s %s [%s]\n", j.Class, j.Name(), property(j.Why[0]))
			continue
		}
		fmt.Fprintf(w, "%-8s %s\n", j.Class, j.Name())
		for i, why := range j.Why {
			if i == few && !all {
				fmt.Fprintf(w, "         and %d more (-v prints all)\n", len(j.Why)-few)
				break
			}
			fmt.Fprintf(w, "         %s\n", why)
		}
	}
}

// property is a reason without its details: "D = 3: no race".
func property(why string) string {
	for i, r := range why {
		if r == '(' || i > 60 {
			return why[:i]
		}
	}
	return why
}
